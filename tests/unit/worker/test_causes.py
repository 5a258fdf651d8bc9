"""What the messages of TensorFlow and Keras tell of a failure, as they write them."""

import json

import pytest

from mlflow_tfexec.statistics.failure_advice import BY_CAUSE, advise
from mlflow_tfexec.worker.causes import CAUSES, Explanation, explain


def error_of(name, text=""):
    return type(name, (Exception,), {})(text)


UNSUPPORTED = (
    "Detected unsupported operations when trying to compile graph __inference_f_19[_XlaMustCompile=true] on "
    "XLA_CPU_JIT: {} (No registered '{}' OpKernel for XLA_CPU_JIT devices compatible with node "
    "{{{{node model/head/Op}}}})"
)
CASES = {
    "operation_without_xla": error_of("InvalidArgumentError", UNSUPPORTED.format("Lu", "Lu")),
    "python_function_in_graph": error_of("InvalidArgumentError", UNSUPPORTED.format("EagerPyFunc", "EagerPyFunc")),
    "text_in_xla": error_of("InvalidArgumentError", UNSUPPORTED.format("AsString", "AsString")),
    "shape_from_values": error_of(
        "InvalidArgumentError",
        "Input 1 to node `Reshape` with op Reshape must be a compile-time constant.",
    ),
    "variables_in_function": ValueError(
        "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable is only "
        "created once or created outside tf.function."
    ),
    "tensor_as_python_value": error_of(
        "OperatorNotAllowedInGraphError", "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed."
    ),
    "branches_differ": ValueError("'y' must also be initialized in the else branch"),
    "name_not_allowed": ValueError("'__private_3' is not a valid root scope name. A root scope name has to match"),
    "shape_unknown_in_graph": ValueError("as_list() is not defined on an unknown TensorShape."),
    "tensor_from_another_graph": error_of(
        "InaccessibleTensorError", "<tf.Tensor 'Mul:0'> is out of scope and cannot be used here."
    ),
    "not_a_number": error_of("InvalidArgumentError", "here : Tensor had NaN values [Op:CheckNumerics]"),
    "variable_on_another_device": error_of(
        "InvalidArgumentError",
        "Trying to access resource Variable located in device /job:localhost/device:CPU:0 from device /device:GPU:0",
    ),
    "not_deterministic_op": error_of(
        "UnimplementedError", "Deterministic GPU implementation of unsorted segment reduction op not yet supported."
    ),
    "wrong_input": ValueError('Input 0 of layer "dense" is incompatible with the layer: expected axis -1'),
    "gpu_newer_than_build": error_of("InternalError", "no kernel image is available for execution on the device"),
    "libdevice_missing": error_of("InternalError", "libdevice not found at ./libdevice.10.bc [Op:__inference_f_1]"),
    "ptxas_missing": error_of("InternalError", "Couldn't invoke ptxas --version"),
    "cuda_library_missing": error_of("UnimplementedError", "DNN library is not found."),
}


def test_every_cause_has_a_case_here_and_advice():
    assert {cause.code for cause in CAUSES} == CASES.keys() == BY_CAUSE.keys()


@pytest.mark.parametrize("code", CASES)
def test_an_error_is_recognised_by_its_words(code):
    assert explain(CASES[code]).cause == code


def test_an_error_of_no_known_kind_has_no_cause_and_the_advice_of_its_status():
    assert explain(KeyError("dense")).cause is None
    assert advise("run_failed", None).why == "The call itself raised an error."
    assert advise("run_failed", "of_a_later_version") == advise("run_failed", None)
    assert advise("of_a_later_version", None).why == "The mode could not be measured."


def test_every_unsupported_operation_is_named_once():
    text = f"{UNSUPPORTED.format('Lu', 'Lu')}, {UNSUPPORTED.format('Eig', 'Eig')}, {UNSUPPORTED.format('Lu', 'Lu')}"
    assert explain(error_of("InvalidArgumentError", text)).op == "Lu, Eig"


def test_an_input_that_xla_cannot_take_is_no_operation():
    assert explain(error_of("InvalidArgumentError", UNSUPPORTED.format("_Arg", "_Arg"))).op is None


def test_a_line_of_pythons_own_library_is_not_the_models():
    def fail():
        json.loads("{")

    with pytest.raises(ValueError, match="Expecting") as caught:
        fail()
    assert explain(caught.value).source == f"test_causes.py:{fail.__code__.co_firstlineno + 1} in fail"


@pytest.mark.parametrize(
    ("text", "op"),
    [
        ("Input 1 to node `Reshape` with op Reshape must be a compile-time constant", "Reshape"),
        ("Matrix size-incompatible: In[0]: [1,5], In[1]: [4,2] [Op:MatMul] name: ", "MatMul"),
        ("Tensor had NaN values\n\t [[{{node model/dense_1/CheckNumerics_3}}]] [Op:__inference_f_12]", "CheckNumerics"),
        ("no such thing [Op:__inference_f_12]", None),
    ],
)
def test_the_operation_is_the_one_the_message_names(text, op):
    assert explain(error_of("InvalidArgumentError", text)).op == op


@pytest.mark.parametrize(
    ("text", "layer"),
    [
        ("broken [[{{node functional_1/dense_1/MatMul}}]]", "dense_1"),
        ("broken [[{{node MatMul}}]]", None),
        ("broken [[{{node functional_1/words_1/None_Lookup/LookupTableFindV2}}]]", "words_1"),
        ("broken [[{{node functional_1/lstm_1/while/body/_7/MatMul}}]]", "lstm_1"),
        ("broken [[{{node while/body/_7/MatMul}}]]", None),
        ("Exception encountered when calling Branch.call().\n\nmore", "Branch"),
        ("Exception encountered when calling layer 'head' (type Dense).", "head"),
    ],
)
def test_the_layer_is_as_keras_says_it_or_from_the_path_of_the_node(text, layer):
    assert explain(ValueError(text)).layer == layer


def test_the_line_is_the_innermost_one_that_is_neither_a_library_s_nor_ours():
    text = (
        "broken\nThe op is created at: \n"
        'File "/home/me/mlflow_tfexec/worker/serve.py", line 36, in _answer\n'
        'File "/home/me/model.py", line 3, in build\n'
        'File "/home/me/layers.py", line 7, in call\n'
        'File "/home/me/lib/site-packages/keras/src/layers/layer.py", line 9, in __call__\n'
    )
    assert explain(ValueError(text)).source == "layers.py:7 in call"


def test_a_function_without_a_name_has_a_line_all_the_same():
    assert explain(ValueError('created at: \nFile "/home/me/model.py", line 8, in \nmore')).source == "model.py:8"


def test_without_a_stack_in_the_message_the_line_is_python_s():
    def fail():
        raise KeyError("x")

    with pytest.raises(KeyError) as caught:
        fail()
    assert explain(caught.value).source == f"test_causes.py:{fail.__code__.co_firstlineno + 1} in fail"


def test_what_autograph_has_rewritten_is_told_as_it_was():
    frame = type("Frame", (), {"filename": "/home/me/model.py", "lineno": 5, "function_name": "call"})
    error = ValueError("broken")
    error.ag_error_metadata = type("Metadata", (), {"translated_stack": [frame]})
    assert explain(error).source == "model.py:5 in call"


def test_an_error_that_tells_nothing_has_no_parts():
    assert explain(ValueError()) == Explanation()


def test_a_megabyte_of_text_is_read_at_once():
    assert explain(ValueError("x" * 1_000_000)) == Explanation()
