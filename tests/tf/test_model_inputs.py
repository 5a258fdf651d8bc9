"""Inputs from what models say of themselves, and given inputs held against it; all models in one process."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from small_models import functional, load, says, values

from mlflow_tfexec.models._consumers import layers_that_take_text
from mlflow_tfexec.models._dimensions import default_item
from mlflow_tfexec.models._inputs import TensorFacts, hash_inputs, make_array, to_device

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("device_facts")]


@pytest.mark.parametrize("dtype", ["int32", "float32"])
@pytest.mark.parametrize("between", [(), ("Reshape",)])
def test_token_ids_stay_inside_the_embedding_that_they_reach(dtype, between):
    from keras import layers

    passed = [layers.Reshape((20, 50)) for _ in between]
    loaded = load(functional((1000,), *passed, layers.Embedding(7, 2), dtype=dtype))

    assert set(values(loaded).ravel()) == set(range(7))
    assert says(loaded) == ["token ids below 7"]


def test_of_several_embeddings_the_smallest_decides():
    import keras

    ids = keras.layers.Input((500,), dtype="int32")
    model = keras.Model(ids, [keras.layers.Embedding(size, 2)(ids) for size in (90, 5, 30)])

    assert values(load(model)).max() == 4


def test_an_embedding_is_found_inside_a_nested_model_and_in_a_layer_made_of_layers():
    import keras

    @keras.saving.register_keras_serializable("tests")
    class Tokens(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.ids, self.places = keras.layers.Embedding(40, 2), keras.layers.Embedding(6, 2)

        def call(self, x):
            return self.ids(x)

    nested = keras.Sequential([keras.layers.Input((300,)), keras.layers.Embedding(9, 2)])

    assert says(load(functional((300,), nested))) == ["token ids below 9"]
    assert says(load(nested)) == ["token ids below 9"]
    assert says(load(functional((300,), Tokens(), dtype="int32"))) == ["token ids below 6"]


def test_each_of_two_inputs_has_the_range_of_its_own_embedding():
    import keras

    first, second = (keras.layers.Input((200,), dtype="int32", name=name) for name in ("first", "second"))
    one, two = keras.layers.Embedding(3, 4)(first), keras.layers.Embedding(50, 4)(second)
    inner = keras.Model([first, second], one + two)
    outer = {name: keras.layers.Input((200,), dtype="int32", name=name) for name in ("second", "first")}
    model = keras.Model(outer, inner([outer["first"], outer["second"]]))

    facts = {one.name: one.values for one in load(model).input_facts}
    assert facts == {"first": "token ids below 3", "second": "token ids below 50"}


def test_lookups_are_shown_what_is_in_their_vocabulary():
    from keras import layers

    strings = load(functional((100,), layers.StringLookup(vocabulary=["cat", "dog"]), dtype="string"))
    numbers = load(functional((100,), layers.IntegerLookup(vocabulary=[30, 70]), dtype="int64"))
    texts = load(functional((1,), layers.TextVectorization(vocabulary=["up", "down"]), dtype="string"), batch_size=50)

    assert set(values(strings).ravel()) == {b"cat", b"dog"}
    assert set(values(numbers).ravel()) == {30, 70}
    assert {word for text in values(texts).ravel() for word in text.split()} == {b"up", b"down"}
    assert strings.step.call(*strings.inputs(0)).numpy().min() == 1


def test_text_without_a_vocabulary_is_words_of_a_stated_list():
    from keras import layers

    loaded = load(functional((2,), layers.Hashing(5), dtype="string"))

    assert says(loaded) == ["words of a list of 10"]
    assert all(isinstance(word, bytes) for word in values(loaded).ravel())


@pytest.mark.parametrize(
    ("shape", "dtype", "least", "most", "said"),
    [
        ((400,), "bool", 0, 1, "true or false"),
        ((400,), "int64", 0, 1, "0 or 1"),
        ((8, 9, 3), "float16", 0, 255, "uniform in [0, 255)"),
        ((8, 9, 3), "uint8", 0, 255, "whole numbers below 256"),
        ((8, 9, 5), "float32", 0, 1, "uniform in [0, 1)"),
    ],
)
def test_other_dtypes_have_values_in_a_stated_range(shape, dtype, least, most, said):
    from keras import layers

    loaded = load(functional(shape, layers.Identity(), dtype=dtype))
    seen = values(loaded).astype("float64")

    assert says(loaded) == [said]
    assert str(values(loaded).dtype) == dtype
    assert least <= seen.min() < seen.max() <= most
    assert seen.max() > 0.9 * most


def test_a_dtype_for_which_nothing_can_be_made_up_is_refused():
    with pytest.raises(ValueError, match="'q' is of dtype qint8, for which no input can be made up; give --inputs"):
        make_array(TensorFacts("q", (1, 2), "qint8"), seed=(0,))


def test_nested_structures_keep_their_form():
    import keras

    names = ("left", "right", "top")
    inputs = {name: keras.layers.Input((size,), name=name) for size, name in enumerate(names, start=1)}
    structure = {"sides": [inputs["left"], inputs["right"]], "top": inputs["top"]}
    loaded = load(keras.Model(structure, keras.layers.Concatenate()(list(inputs.values()))), batch_size=2)

    (fed,) = loaded.inputs(0)
    assert set(fed) == {"sides", "top"}
    assert [one.shape for one in fed["sides"]] == [(2, 1), (2, 2)]
    assert loaded.step.call(*loaded.inputs(0)).shape == (2, 6)


def test_sets_differ_from_one_another_and_inputs_within_a_set():
    import keras

    pair = [keras.layers.Input((50,), name=name) for name in ("a", "b")]
    loaded = load(keras.Model(pair, keras.layers.Add()(pair)))
    seen = [one.numpy().tobytes() for number in range(3) for one in loaded.inputs(number)[0]]

    assert len(set(seen)) == 6
    assert [one.numpy().tobytes() for one in loaded.inputs(2)[0]] == seen[4:]


@pytest.mark.parametrize(
    ("item", "dtype", "filled"),
    [
        ((None,), "int32", (128,)),
        ((None, 40), "float32", (128, 40)),
        ((None, None, 3), "float32", (224, 224, 3)),
        ((None, None, None), "float32", (224, 224, 3)),
        ((None, 64, 1), "float32", (224, 64, 1)),
        ((3, None, None), "float32", (3, 224, 224)),
        ((None, 32, 32, 3), "float32", (16, 32, 32, 3)),
        ((None,), "string", (1,)),
        ((None, 7, None, 2, 2), "float32", (128, 7, 128, 2, 2)),
    ],
)
def test_open_dimensions_have_a_default_by_kind(item, dtype, filled):
    assert default_item(item, dtype) == filled


def test_filled_dimensions_are_told_and_asked_ones_are_not():
    from keras import layers

    model = functional((None,), layers.Embedding(9, 2), dtype="int32", name="ids")
    (finding,) = load(model).findings

    assert finding.code == "default_dimensions"
    assert "ids (None,) as (128,)" in finding.what
    assert load(model, input_shape=(5,)).findings == ()
    assert load(model, input_shapes={"ids": (5,)}).input_facts[0].shape == (1, 5)
    assert load(model, input_shapes={"0": (6,)}).input_facts[0].shape == (1, 6)


def test_a_shape_for_an_input_that_is_not_there_is_refused_with_those_that_are():
    from keras import layers

    with pytest.raises(ValueError, match="names 'idz', and the model's inputs are 'ids'"):
        load(functional((3,), layers.Identity(), name="ids"), input_shapes={"idz": (3,)})


def test_a_fixed_batch_goes_before_the_default_and_not_before_what_was_asked():
    from keras import layers

    model = functional((3,), layers.Dense(1), batch_size=8)

    assert load(model).batch_size == 8
    with pytest.raises(ValueError, match="batch size 2 does not fit the model, which is built for 8"):
        load(model, batch_size=2, batch_asked=True)


def test_a_callable_takes_shapes_by_the_names_of_its_parameters():
    loaded = load(lambda wide, deep: wide * 2 + deep, input_shapes={"deep": (4,), "wide": (1,)})

    assert [one.shape for one in loaded.inputs(0)] == [(1, 1), (1, 4)]


def test_inputs_whose_way_is_to_be_timed_stay_on_the_host():
    from keras import layers

    loaded = load(functional((3,), layers.Dense(1)), include_transfer=True)

    assert isinstance(loaded.inputs(0)[0], np.ndarray)
    np.testing.assert_array_equal(loaded.inputs(1)[0], values(load(functional((3,), layers.Dense(1))), 1))


numbers = arrays.arrays(
    st.sampled_from(["float32", "int64", "uint8", "bool"]), arrays.array_shapes(max_dims=3, max_side=4)
)


@settings(deadline=None, max_examples=50)
@given(array=numbers, place=st.integers(0), flip=st.integers(1, 255))
def test_the_hash_changes_if_a_byte_does_and_only_then(array, place, flip):
    # Truth values have but one bit.
    changed = array.copy()
    raw = changed.reshape(-1).view(np.uint8)
    raw[place % raw.size] ^= 1 if array.dtype == bool else flip

    assert hash_inputs([{"x": array}]) == hash_inputs([{"x": array.copy()}])
    assert hash_inputs([{"x": array}]) != hash_inputs([{"x": changed}])


def test_the_hash_knows_names_shapes_types_order_and_sets():
    one, flat = np.zeros((2, 2), "float32"), np.zeros(4, "float32")
    others = [
        [{"x": one}],
        [{"y": one}],
        [{"x": flat}],
        [{"x": one.view("int32")}],
        [{"x": one}, {"x": one}],
        [{"x": np.array([b"ab", b"c"], object)}],
        [{"x": np.array([b"a", b"bc"], object)}],
    ]

    hashes = [hash_inputs(sets) for sets in others]
    assert all(a != b for a, b in itertools.combinations(hashes, 2))


@settings(deadline=None, max_examples=30)
@given(
    dtype=st.sampled_from(["float32", "bfloat16", "int32", "bool", "string", "complex64"]),
    shape=arrays.array_shapes(max_dims=3, max_side=4).map(tuple),
    seed=st.lists(st.integers(0, 2**31), min_size=1, max_size=3),
)
def test_the_same_seed_gives_the_same_values_and_the_device_holds_them(dtype, shape, seed):
    facts = TensorFacts(None, shape, dtype)
    array, again = (make_array(facts, seed=seed) for _ in range(2))

    assert array.shape == shape
    np.testing.assert_array_equal(array, again)
    moved = to_device(array)
    assert moved.dtype.name == dtype
    np.testing.assert_array_equal(np.asarray(moved), array)


def test_an_error_of_the_model_on_dimensions_of_our_choice_says_that_they_were():
    import keras

    places = keras.layers.Embedding(64, 2)
    start = keras.layers.Input((None, 2))
    model = keras.Model(start, start + places(keras.ops.arange(64)))

    with pytest.raises(ValueError, match=r"they were filled: .* \(None, 2\) as \(128, 2\)\. .* --input-shape\. \w+:"):
        load(model)
    assert load(model, input_shape=(64, 2)).input_facts[0].shape == (1, 64, 2)


@pytest.mark.parametrize("mode", ["eager", "graph", "keras_predict"])
def test_a_mode_that_times_the_transfer_answers_the_same_and_is_traced_once(mode):
    import keras

    from mlflow_tfexec.modes import all_modes

    inputs = {"word": keras.layers.Input((1,), dtype="string", name="word")}
    inputs["ids"] = keras.layers.Input((4,), dtype="int32", name="ids")
    words = keras.layers.StringLookup(vocabulary=["a", "b"], output_mode="one_hot")(inputs["word"])
    model = keras.Model(inputs, keras.layers.Concatenate()([words, keras.layers.CategoryEncoding(9)(inputs["ids"])]))
    loaded, moved = load(model, include_transfer=True, batch_size=3), load(model, batch_size=3)
    call = all_modes()[mode].prepare(loaded.step).behind_transfer(to_device)

    for number in range(3):
        answer = call.on(loaded.inputs(number)).run()
        np.testing.assert_allclose(answer, moved.step.call(*moved.inputs(number)))
    assert call.traces() <= 1


def test_layers_that_take_text_are_named_through_whatever_hands_it_on():
    import keras

    words, numbers = keras.Input((2, 3), dtype="string"), keras.Input((6,))
    looked_up = keras.layers.StringLookup(vocabulary=["a", "b"], name="look_up")(keras.layers.Reshape((6,))(words))
    hashed = keras.layers.Hashing(8, name="into_bins")(words)
    outputs = [looked_up, hashed, keras.layers.Dense(2, name="dense")(numbers)]

    assert set(layers_that_take_text(keras.Model([words, numbers], outputs))) == {"into_bins", "look_up"}
    assert layers_that_take_text(lambda x: x) == []
