"""Given inputs held against what models say of themselves; all models in one process."""

import numpy as np
import pytest
from small_models import functional, load, says, values

from mlflow_tfexec.errors import RequestError

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("device_facts")]


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def dense(size=2, **more):
    from keras import layers

    return functional((size,), layers.Dense(1), **more)


def test_given_sets_are_used_in_turn_and_hashed_together(place):
    np.savez("a.npz", x=np.zeros((3, 2), "float32"))
    np.savez("b.npz", x=np.ones((3, 2), "float32"))
    loaded, reversed_ = load(dense(), inputs="a.npz,b.npz"), load(dense(), inputs="b.npz,a.npz")

    assert [values(loaded, number).max() for number in range(4)] == [0, 1, 0, 1]
    assert (loaded.batch_size, loaded.input_sets, says(loaded)) == (3, 2, ["given"])
    assert loaded.findings == ()
    assert loaded.inputs_sha256 != reversed_.inputs_sha256


def test_a_single_given_set_is_a_finding(place):
    np.save("a.npy", np.zeros((3, 2), "float32"))

    assert [one.code for one in load(dense(), inputs="a.npy").findings] == ["one_input_set"]


def test_a_function_returns_one_set_or_yields_several(place):
    (place / "data.py").write_text(
        "import numpy as np\n"
        "def one(): return {'x': np.random.rand(4, 2).astype('float32')}\n"
        "def several():\n"
        "    while True: yield np.random.rand(4, 2)\n"
    )

    first, again = (load(dense(), inputs="data.py:one") for _ in range(2))
    assert (first.batch_size, first.input_sets) == (4, 1)
    assert first.inputs_sha256 == again.inputs_sha256
    assert load(dense(), inputs="data.py:several").input_sets == 100


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return None", "gave nothing"),
        ("return 1 / 0", "raised ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", r"called sys.exit\(3\)"),
        ("yield from ()", "gave nothing"),
        ("return object()", "is of Python objects"),
        ("return {'y': [[1.0, 2.0]]}", "gives 2 array"),
    ],
)
def test_a_function_that_gives_no_inputs_is_refused(place, body, reason):
    (place / "data.py").write_text(f"def make():\n    {body}\n")

    with pytest.raises(ValueError, match=f"--inputs.*{reason}"):
        load(dense(), inputs="data.py:make")


@pytest.mark.parametrize(
    ("given_dtype", "content", "taken_dtype", "taken"),
    [
        ("int64", [[1, 2]], "float32", [[1.0, 2.0]]),
        ("float64", [[0.1, 2]], "float32", [[np.float32(0.1), 2.0]]),
        ("float32", [[1.0, 2.0]], "int32", [[1, 2]]),
        ("bool", [[True, False]], "int32", [[1, 0]]),
        ("int64", [[0, 1]], "bool", [[False, True]]),
    ],
)
def test_given_numbers_are_cast_where_nothing_is_lost(place, given_dtype, content, taken_dtype, taken):
    from keras import layers

    np.save("a.npy", np.array(content, given_dtype))
    loaded = load(functional((2,), layers.Identity(), dtype=taken_dtype), inputs="a.npy")

    assert values(loaded).tolist() == taken
    assert str(values(loaded).dtype) == taken_dtype


@pytest.mark.parametrize(
    ("array", "dtype", "reason"),
    [
        (
            np.full((1, 2), 0.5),
            "int32",
            r"'x' is of dtype float64, and the model takes int32. Its values cannot be kept",
        ),
        (np.full((1, 2), 2**40), "int32", "is of dtype int64, and the model takes int32"),
        (np.full((1, 2), 2**24 + 1), "float32", "Its values cannot be kept"),
        (np.full((1, 2), 1e60), "float32", "Its values cannot be kept"),
        (np.full((1, 2), 1j), "float32", "is of dtype complex128, and the model takes float32"),
        (np.full((1, 2), "a"), "float32", "is of dtype string, and the model takes float32"),
        (np.zeros((1, 2)), "string", "is of dtype float64, and the model takes string"),
        (np.zeros(2), "float32", r"has shape \(2,\), and the model takes \(None, 2\). The batch comes first"),
        (np.zeros((1, 3)), "float32", r"has shape \(1, 3\), and the model takes \(None, 2\)"),
        (np.zeros((1, 2, 1)), "float32", r"has shape \(1, 2, 1\)"),
    ],
)
def test_given_arrays_that_do_not_fit_are_refused(place, array, dtype, reason):
    from keras import layers

    np.save("a.npy", array)

    with pytest.raises(ValueError, match=f"^--inputs.*{reason}"):
        load(functional((2,), layers.Identity(), dtype=dtype), inputs="a.npy")


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (("x", "z"), "gives 'x', 'z', and the model takes 'x' .* 'y' "),
        (("x",), "gives 'x', and the model takes 'x' "),
        (("x", "y", "z"), "gives 'x', 'y', 'z', and the model takes"),
    ],
)
def test_names_that_do_not_fit_are_refused_with_both(place, names, reason):
    import keras

    pair = [keras.layers.Input((2,), name=name) for name in ("x", "y")]
    np.savez("a.npz", **{name: np.zeros((1, 2)) for name in names})

    with pytest.raises(ValueError, match=reason):
        load(keras.Model(pair, keras.layers.Add()(pair)), inputs="a.npz")


def test_a_made_up_name_of_an_only_input_need_not_be_known(place):
    import keras

    np.savez("a.npz", pixels=np.zeros((1, 2)))
    start = keras.layers.Input((2,))

    assert load(keras.Model(start, keras.layers.Dense(1)(start)), inputs="a.npz").batch_size == 1
    with pytest.raises(ValueError, match="gives 'pixels', and the model takes 'x'"):
        load(dense(), inputs="a.npz")


def test_batches_of_given_inputs_agree_with_one_another_and_with_what_was_asked(place):
    import keras

    pair = [keras.layers.Input((2,), name=name) for name in ("x", "y")]
    model = keras.Model(pair, keras.layers.Concatenate()(pair))
    np.savez("a.npz", x=np.zeros((1, 2)), y=np.zeros((3, 2)))
    np.savez("b.npz", x=np.zeros((3, 2)), y=np.zeros((3, 2)))

    with pytest.raises(ValueError, match="the batches differ"):
        load(model, inputs="a.npz")
    with pytest.raises(ValueError, match="--batch-size 2 does not fit --inputs, which hold 3 items"):
        load(model, inputs="b.npz", batch_size=2, batch_asked=True)


def test_values_that_are_no_numbers_are_a_finding_and_no_refusal(place):
    np.save("a.npy", np.array([[np.nan, np.inf]], "float32"))

    (finding, _) = load(dense(), inputs="a.npy").findings
    assert finding.code == "inputs_not_finite"
    assert "2 values" in finding.what


def test_a_callable_takes_what_it_is_given(place):
    np.savez("named.npz", b=np.ones((2, 3)), a=np.zeros((2, 1)))
    np.savez("placed.npz", np.zeros((2, 1)), np.ones((2, 3)))

    named = load(lambda a, b: a + b, inputs="named.npz")
    placed = load(lambda a, b: a + b, inputs="placed.npz")

    for loaded in (named, placed):
        assert [one.shape for one in loaded.inputs(0)] == [(2, 1), (2, 3)]


def test_files_are_read_anew_by_each_worker_and_refused_there_too(place):
    with pytest.raises(RequestError, match=r"--inputs 'gone.npz': there is no such file"):
        load(dense(), inputs="gone.npz")
