"""Each mode on a tiny model in this process: what it traces, and what XLA is told."""

import pytest

from mlflow_tfexec.measurement.call import ModelStep
from mlflow_tfexec.modes import all_modes
from mlflow_tfexec.modes._mode import NotApplicable

pytestmark = pytest.mark.tf

# What `tf.function` writes on the function it traces. Absent: TensorFlow chooses.
JIT = {"graph": None, "graph_nojit": False, "xla": True, "graph_control": None, "xla_autocluster": None}
# Says something to the whole process, or needs a Keras model.
SPECIAL = {"eager", "keras_predict", "graph_nograppler"}


@pytest.fixture(scope="module")
def dense(device_facts):
    """Give a step of a model, its inputs, and the step's own answer."""
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3)])
    inputs = (tf.ones((2, 4)),)
    return model, inputs, model(*inputs).numpy()


def prepared(mode, step):
    return all_modes()[mode].prepare(ModelStep(call=step))


def test_every_mode_is_known_here():
    assert set(all_modes()) == set(JIT) | SPECIAL


@pytest.mark.parametrize(("mode", "traces"), [("eager", 0), *((mode, 1) for mode in JIT)])
def test_a_mode_is_traced_once_by_trace_and_never_by_calls(dense, mode, traces):
    step, inputs, expected = dense
    call = prepared(mode, step).on(inputs)
    assert call.traces() == 0
    assert (call.trace is None) == (mode == "eager")
    if call.trace is not None:
        call.trace(*call.inputs)
    assert call.traces() == traces
    for _ in range(2):
        assert call.run().numpy() == pytest.approx(expected, rel=1e-5)
    assert call.traces() == traces


@pytest.mark.parametrize("mode", JIT)
def test_the_traced_function_carries_the_modes_xla_flag(dense, mode):
    step, inputs, _ = dense
    attributes = prepared(mode, step).trace(*inputs).function_def.attr
    assert (attributes["_XlaMustCompile"].b if "_XlaMustCompile" in attributes else None) is JIT[mode]


def test_xla_compiles_and_the_others_do_not(dense):
    step, inputs, _ = dense
    functions = {mode: prepared(mode, step).function for mode in JIT}
    assert functions.pop("xla").experimental_get_compiler_ir(*inputs)(stage="optimized_hlo").startswith("HloModule")
    for function in functions.values():
        with pytest.raises(ValueError, match="jit_compile=True"):
            function.experimental_get_compiler_ir(*inputs)


def test_a_dictionary_of_inputs_passes_through_every_mode(device_facts):
    import tensorflow as tf

    feed = {"a": tf.constant([1.0]), "b": tf.constant([2])}
    for mode in ("eager", *JIT):
        call = prepared(mode, lambda x: x["a"] + tf.cast(x["b"], tf.float32)).on((feed,))
        if call.trace is not None:
            call.trace(*call.inputs)
        assert call.run().numpy() == [3.0]
        assert call.traces() == (0 if mode == "eager" else 1)


def test_predict_takes_the_batch_at_once_and_says_what_auto_became(device_facts):
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3)])
    batches = []
    counting = keras.callbacks.LambdaCallback()
    counting.on_predict_batch_begin = lambda batch, logs=None: batches.append(batch)

    def predict(x, **options):
        return model.predict(x, callbacks=[counting], **options)

    # Forty items are more than the 32 that `predict` takes at a time by itself.
    inputs = (tf.ones((40, 4)),)
    assert prepared_predict(predict).on(inputs).run() == pytest.approx(model(*inputs).numpy(), rel=1e-5)
    assert batches == [0]
    call = prepared_predict(model.predict).on(inputs)
    call.run()
    # There is no GPU in this process, and Keras takes XLA on a GPU only.
    assert call.details() == {"jit_compile": False}
    assert call.traces() == 1


def test_predict_is_not_applicable_to_a_callable():
    with pytest.raises(NotApplicable, match="only a Keras model has predict"):
        prepared_predict(None)


def prepared_predict(predict):
    return all_modes()["keras_predict"].prepare(ModelStep(call=lambda x: x, predict=predict))


def test_without_grappler_the_answer_stays_and_the_optimizer_is_off(dense):
    import tensorflow as tf

    step, inputs, expected = dense
    try:
        call = prepared("graph_nograppler", step).on(inputs)
        assert call.run().numpy() == pytest.approx(expected, rel=1e-5)
        assert tf.config.optimizer.get_experimental_options()["disable_meta_optimizer"] is True
    finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})


def test_a_function_inside_the_model_that_is_traced_in_every_call_is_counted_in_eager(device_facts):
    import tensorflow as tf

    numbers = iter(range(100))
    inner = tf.function(lambda x, number: x * number)
    steady = tf.function(lambda x: x + 1.0)
    call = prepared("eager", lambda x: inner(steady(x), next(numbers))).on((tf.ones(2),))
    call.run()
    before = call.traces()
    call.run()
    call.run()
    assert call.traces() == before + 2
    plain = prepared("eager", steady).on((tf.ones(2),))
    plain.run()
    assert plain.traces() == 0
