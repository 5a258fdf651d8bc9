"""From the text of options to a spec: every wrong value is refused in one line that holds it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mlflow_tfexec.benchmarking.request import RunOptions, build_spec, mode_variables, one_of, optional_margin
from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.records.spec import Spec


def spec_of(**options):
    return build_spec(RunOptions(**{"model": "ResNet50", **options}))


def refusal(**options):
    with pytest.raises(RequestError) as caught:
        spec_of(**options)
    return str(caught.value)


def test_without_options_everything_is_the_default():
    modes = ("eager", "graph", "graph_nojit", "xla", "graph_control")

    assert spec_of() == Spec(model="ResNet50", modes=modes, launches=5, looks=(3, 5))


def test_every_option_reaches_the_spec():
    spec = spec_of(
        model="efficientnetv2s",
        modes="xla, EAGER",
        task="Inference",
        preset=" Rigorous ",
        batch_size="32",
        input_shape="384x384x3",
        include_transfer=True,
        dtype="mixed_float16",
        weights="imagenet",
        device="GPU:1",
        seed="7",
        launches="2",
        rounds="6",
        block_ms="50",
        warmup="0",
        timeout="60.5",
        margin="0.1",
        time_budget="600",
    )

    assert spec == Spec(
        model="EfficientNetV2S",
        modes=("eager", "xla"),
        task="inference",
        preset="rigorous",
        batch_size=32,
        batch_asked=True,
        input_shape=(384, 384, 3),
        include_transfer=True,
        dtype="mixed_float16",
        weights="imagenet",
        device="gpu:1",
        seed=7,
        launches=2,
        looks=(2,),
        rounds=6,
        block_ms=50.0,
        warmup_s=0.0,
        timeout_s=60.5,
        margin=0.1,
        time_budget_s=600.0,
    )


@pytest.mark.parametrize(
    ("preset", "looks", "launches", "rounds"),
    [("quick", (1,), 1, 10), ("standard", (3, 5), 5, 10), ("rigorous", (5, 10, 15, 20), 20, 20)],
)
@pytest.mark.parametrize("auto", ["auto", "AUTO", "", " "])
def test_looks_launches_and_rounds_follow_from_the_preset(preset, looks, launches, rounds, auto):
    spec = spec_of(preset=preset, launches=auto, rounds=auto)

    assert (spec.looks, spec.launches, spec.rounds) == (looks, launches, rounds)


@pytest.mark.parametrize("preset", ["quick", "standard", "rigorous"])
def test_a_number_of_launches_is_measured_whole_with_one_look_at_its_end(preset):
    spec = spec_of(preset=preset, launches="7")

    assert (spec.looks, spec.launches) == ((7,), 7)


@pytest.mark.parametrize(
    ("text", "budget_s"), [("auto", None), ("AUTO", None), ("", None), ("600", 600.0), (" 90.5 ", 90.5), ("1", 1.0)]
)
def test_a_time_budget_is_in_seconds_and_auto_is_none(text, budget_s):
    assert spec_of(time_budget=text).time_budget_s == budget_s


@pytest.mark.parametrize("preset", ["quick", "standard", "rigorous"])
def test_a_time_budget_leaves_the_looks_as_they_are(preset):
    assert spec_of(preset=preset, time_budget="600").looks == spec_of(preset=preset).looks


@pytest.mark.parametrize(
    "text", ["384,384,3", "384x384x3", "384X384X3", "(384, 384, 3)", "[384,384,3]", " 384 , 384,3, "]
)
def test_a_shape_may_be_written_in_several_ways(text):
    assert spec_of(input_shape=text).input_shape == (384, 384, 3)


def test_shapes_of_several_inputs_go_by_their_names():
    spec = spec_of(input_shape="ids=128; image=8x8x3")

    assert (spec.input_shape, spec.input_shapes) == (None, {"ids": (128,), "image": (8, 8, 3)})


@pytest.mark.parametrize(
    ("text", "batch"), [("auto", (1, False)), ("", (1, False)), ("1", (1, True)), ("8", (8, True))]
)
def test_a_batch_size_is_1_unless_asked_and_that_is_known(text, batch):
    spec = spec_of(batch_size=text)

    assert (spec.batch_size, spec.batch_asked) == batch


@pytest.fixture
def four_items(tmp_path, monkeypatch):
    import numpy as np

    monkeypatch.chdir(tmp_path)
    np.save("four.npy", np.zeros((4, 2)))
    return "four.npy"


@pytest.mark.parametrize("batch_size", ["auto", "4"])
def test_given_inputs_bring_their_batch_size(four_items, batch_size):
    spec = spec_of(inputs=four_items, batch_size=batch_size)

    assert (spec.inputs, spec.batch_size) == (four_items, 4)


def test_another_batch_size_than_that_of_the_given_inputs_is_refused(four_items):
    assert refusal(inputs=four_items, batch_size="8").startswith(
        "--batch-size 8 does not fit --inputs 'four.npy', which hold 4 items."
    )


def test_given_inputs_and_a_shape_are_one_too_many(four_items):
    assert refusal(inputs=four_items, input_shape="2").startswith(
        "--inputs 'four.npy' has a shape, so --input-shape '2'"
    )


def test_modes_come_in_table_order_however_they_are_typed():
    assert spec_of(modes="graph_control,xla,,graph,Eager ").modes == ("eager", "graph", "xla", "graph_control")


def test_a_weights_file_is_kept_as_it_was_given(tmp_path):
    path = tmp_path / "my.weights.h5"
    path.touch()

    assert spec_of(weights=str(path)).weights == str(path)


@pytest.mark.parametrize(("text", "weights"), [("none", None), ("None", None), ("", None), ("ImageNet", "imagenet")])
def test_weights_are_none_or_imagenet_in_any_case(text, weights):
    assert spec_of(weights=text).weights == weights


@pytest.mark.parametrize(
    ("option", "text", "refused"),
    [
        ("preset", "quik", "No preset named 'quik'. Did you mean 'quick'? Known: quick, standard, rigorous."),
        ("preset", "", "No preset named ''. Known: quick, standard, rigorous."),
        ("task", "tune", "No task named 'tune'. Known: inference, train."),
        ("dtype", "float23", "No dtype named 'float23'. Did you mean 'float32'? Known: float32, float16, bfloat16, "),
        ("modes", "eager,xlaa", "No mode named 'xlaa'. Did you mean 'xla'? Known: eager, graph, graph_nojit, xla, "),
        ("modes", "eager,xla,xla", "Mode 'xla' is named twice in --modes 'eager,xla,xla'. Name each mode once."),
        ("modes", "graph,xla", "--modes 'graph,xla' lacks 'eager', which all others are compared with. Add it."),
        ("modes", ",", "--modes ',' lacks 'eager', which all others are compared with. Add it."),
        ("modes", "eager", "--modes 'eager' leaves nothing to compare. Name at least one mode beside 'eager'."),
        ("batch_size", "two", "--batch-size 'two' is not a whole number. Give one from 1 to 10000000."),
        ("batch_size", "1.5", "--batch-size '1.5' is not a whole number. Give one from 1 to 10000000."),
        ("batch_size", "0", "--batch-size 0 is out of range. Give a whole number from 1 to 10000000."),
        ("batch_size", "9" * 5000, f"--batch-size '{'9' * 5000}' is not a whole number. Give one from 1 to 10000000."),
        ("seed", "-1", "--seed -1 is out of range. Give a whole number from 0 to 2147483647."),
        ("seed", "2147483648", "--seed 2147483648 is out of range. Give a whole number from 0 to 2147483647."),
        ("launches", "0", "--launches 0 is out of range. Give a whole number from 1 to 100000."),
        ("launches", "3,5", "--launches '3,5' is not a whole number. Give one from 1 to 100000."),
        ("time_budget", "0", "--time-budget '0' is out of range. Give a number from 1 to 604800."),
        ("time_budget", "-5", "--time-budget '-5' is out of range. Give a number from 1 to 604800."),
        ("time_budget", "1e9", "--time-budget '1e9' is out of range. Give a number from 1 to 604800."),
        ("time_budget", "nan", "--time-budget 'nan' is out of range. Give a number from 1 to 604800."),
        ("time_budget", "10min", "--time-budget '10min' is not a number. Give one from 1 to 604800."),
        ("time_budget", "none", "--time-budget 'none' is not a number. Give one from 1 to 604800."),
        ("rounds", "nan", "--rounds 'nan' is not a whole number. Give one from 1 to 100000."),
        ("block_ms", "nan", "--block-ms 'nan' is out of range. Give a number from 1 to 60000."),
        ("block_ms", "0.5", "--block-ms '0.5' is out of range. Give a number from 1 to 60000."),
        ("block_ms", "fast", "--block-ms 'fast' is not a number. Give one from 1 to 60000."),
        ("block_ms", "9e9\n", "--block-ms '9e9\\n' is out of range. Give a number from 1 to 60000."),
        ("warmup", "inf", "--warmup 'inf' is out of range. Give a number from 0 to 604800."),
        ("warmup", "-1", "--warmup '-1' is out of range. Give a number from 0 to 604800."),
        ("timeout", "0", "--timeout '0' is out of range. Give a number from 1 to 604800."),
        ("margin", "0", "--margin '0' is out of range. Give a number from 0.001 to 1."),
        ("margin", "5", "--margin '5' is out of range. Give a number from 0.001 to 1."),
        ("input_shape", "wide", "--input-shape 'wide' is not a shape. Give one item's, without the batch, such as "),
        ("input_shape", ",", "--input-shape ',' is not a shape. Give one item's, without the batch, such as "),
        ("input_shape", "3,-1", "--input-shape '3,-1': -1 is out of range. Give sizes from 1 to 1000000."),
        ("input_shape", "ids=", "--input-shape '' is not a shape. Give one item's, without the batch, such as "),
        ("input_shape", "ids=3;ids=4", "--input-shape 'ids=3;ids=4': give each input once, as name=shape;name=shape."),
        ("input_shape", "=3", "--input-shape '=3': give each input once, as name=shape;name=shape."),
        ("inputs", "no.npz", "--inputs 'no.npz': there is no such file. Give .npz, .npy, .json or .parquet with an"),
        ("inputs", "no.py:make", "--inputs 'no.py:make': there is no file 'no.py'. Give path/to/file.py:function."),
        ("input_shape", "0x0", "--input-shape '0x0': 0 is out of range. Give sizes from 1 to 1000000."),
        ("weights", "no.h5", "No weights 'no.h5'. Give none, imagenet, or the path of a weights file."),
        ("weights", "x" * 300, f"No weights '{'x' * 300}'. Give none, imagenet, or the path of a weights file."),
        ("device", "tpu", "No device named 'tpu'. Give auto, cpu, gpu or gpu:N with N from 0."),
        ("device", "gpu:", "No device named 'gpu:'. Give auto, cpu, gpu or gpu:N with N from 0."),
        ("device", "gpu:-1", "No device named 'gpu:-1'. Give auto, cpu, gpu or gpu:N with N from 0."),
        ("device", "cpu:0", "No device named 'cpu:0'. Give auto, cpu, gpu or gpu:N with N from 0."),
        ("device", "gpu:" + "9" * 5000, f"No device named 'gpu:{'9' * 5000}'. Give auto, cpu, gpu or gpu:N with N"),
        ("endpoint", "serve", "--endpoint has no effect on 'ResNet50': only a SavedModel has endpoints. Leave it out."),
        ("custom_objects", "a:B", "--custom-objects has no effect on 'ResNet50': only Keras's own files name their "),
        ("model", "nowhere.keras", "No file 'nowhere.keras'. Give the path of an existing .keras file."),
        ("model", "models:/net", "'models:/net' names no model in MLflow. Give models:/name/version, "),
        ("model", "NoSuchNet", "No model named 'NoSuchNet'. "),
        ("model", "", "No model named ''. "),
    ],
    ids=lambda text: text[:20],
)
def test_a_wrong_value_is_refused_in_one_line_that_says_what_would_do(option, text, refused):
    message = refusal(**{option: text})

    assert message.startswith(refused)
    assert len(message.splitlines()) == 1


def test_what_loading_needs_reaches_the_spec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "layers.py").touch()
    spec = spec_of(model="models:/net@best", custom_objects="a.b:C, layers.py:D,", endpoint="serve", safe_mode=False)

    assert (spec.custom_objects, spec.endpoint, spec.safe_mode) == (("a.b:C", "layers.py:D"), "serve", False)


@pytest.mark.parametrize("text", ["none", "None", "", " , "])
def test_no_custom_objects_may_be_said_in_several_ways(text):
    assert spec_of(custom_objects=text).custom_objects == ()


numbers = st.one_of(
    st.integers().map(str),
    st.floats().map(str),
    st.sampled_from(
        ["nan", "inf", "-inf", "1e400", "٣", "१२", "1_000", "0x10", "²", "½", "1" * 5000, "-0", "+1", " 7 "]
    ),
)
anything = st.text() | numbers
shapes = st.lists(anything, max_size=4).flatmap(
    lambda parts: st.sampled_from(["x", ",", " , "]).map(lambda s: s.join(parts))
)
modes = st.lists(st.sampled_from(["eager", "graph", "xla", "auto", ""]) | st.text(max_size=5), max_size=5).map(",".join)
references = st.builds("{}{}:{}".format, st.text(), st.sampled_from(["", ".py", ".keras"]), st.text())


@given(
    options=st.fixed_dictionaries(
        {},
        optional={
            "model": anything | references,
            "modes": anything | modes,
            "task": anything,
            "preset": anything,
            "batch_size": anything,
            "input_shape": anything | shapes | st.builds("{}={};{}".format, st.text(), shapes, anything),
            "inputs": anything | references | st.builds("{}{}".format, anything, st.sampled_from([".npz", ".json"])),
            "dtype": anything,
            "weights": anything,
            "device": anything | st.builds("gpu:{}".format, anything),
            "seed": anything,
            "launches": anything,
            "rounds": anything,
            "block_ms": anything,
            "warmup": anything,
            "timeout": anything,
            "margin": anything,
            "time_budget": anything,
        },
    )
)
@example(options={"weights": "\0"})
@example(options={"weights": "\ud800"})
@example(options={"model": "x" * 5000 + ".py:f"})
@example(options={"model": "\0.py:f"})
@example(options={"model": "\ud800"})
def test_no_text_whatever_raises_anything_but_a_request_error(options):
    try:
        spec = spec_of(**options)
    except RequestError:
        return
    assert isinstance(spec, Spec)
    # What was accepted can be written down and read again.
    assert Spec.model_validate_json(spec.model_dump_json()) == spec


@given(text=st.text())
def test_every_refusal_is_one_line(text):
    options = ("model", "modes", "preset", "batch_size", "input_shape", "weights", "device", "margin", "time_budget")
    for option in options:
        try:
            spec_of(**{option: text})
        except RequestError as error:
            lines = str(error).splitlines()
            assert len(lines) == 1


def test_a_margin_of_auto_is_none():
    assert (optional_margin("auto"), optional_margin("0.02")) == (None, 0.02)
    with pytest.raises(RequestError, match="--margin 'wide' is not a number"):
        optional_margin("wide")


def test_a_name_is_found_in_any_case():
    assert one_of("format", " JSON ", ("json", "csv")) == "json"


def test_each_mode_of_the_spec_has_its_variables():
    assert set(mode_variables(spec_of(modes="eager,xla"))) == {"eager", "xla"}


def test_flags_of_a_mode_stand_behind_the_users_own(monkeypatch):
    monkeypatch.setenv("TF_XLA_FLAGS", "--tf_xla_max_cluster_size=9")
    spec = build_spec(RunOptions(model="MobileNet", modes="eager,xla_autocluster"))
    assert mode_variables(spec) == {
        "eager": {},
        "xla_autocluster": {
            "TF_XLA_FLAGS": "--tf_xla_max_cluster_size=9 --tf_xla_auto_jit=2 --tf_xla_cpu_global_jit",
        },
    }


def test_modes_on_request_are_not_in_the_default_set():
    assert build_spec(RunOptions(model="MobileNet")).modes == ("eager", "graph", "graph_nojit", "xla", "graph_control")
