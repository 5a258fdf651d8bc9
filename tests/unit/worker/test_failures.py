"""From an exception to the status of a mode, with messages as TensorFlow writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlflow_tfexec.records.recording import MODE_STATUSES
from mlflow_tfexec.worker.failures import describe_failure, reason_of


def error_of(name, text=""):
    """Make an exception of a class that has this name, as TensorFlow's have."""
    return type(name, (Exception,), {})(text)


UNSUPPORTED = error_of(
    "InvalidArgumentError",
    "Detected unsupported operations when trying to compile graph __inference_f_12[_XlaMustCompile=true,config_proto="
    "6001324581131673121,executor_type=11160318154034397263] on XLA_CPU_JIT: EagerPyFunc (No registered 'EagerPyFunc' "
    "OpKernel for XLA_CPU_JIT devices compatible with node {{node EagerPyFunc}}){{node EagerPyFunc}}\n\n"
    '\tThe op is created at: \nFile "model.py", line 7, in call [Op:__inference_f_12]',
)
CONSTANT = error_of(
    "InvalidArgumentError",
    "Input 1 to node `Reshape` with op Reshape must be a compile-time constant.\n\nXLA compilation requires that "
    "operator arguments that represent shapes or dimensions be evaluated to concrete values at compile time. "
    "[Op:__inference_f_42]",
)
DYNAMIC = error_of(
    "UnimplementedError", "Where op is not compilable: tf2xla conversion failed while converting __inference_f_9"
)
OOM = error_of(
    "ResourceExhaustedError",
    "Graph execution error:\n\nDetected at node model/conv2d defined at (most recent call last):\n"
    '  File "model.py", line 7, in call\n\n  File "<frozen runpy>", line 88, in _run_code\n\n'
    "OOM when allocating "
    "tensor with shape[512,64,384,384] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator "
    "GPU_0_bfc",
)
INCOMPATIBLE = error_of(
    "InvalidArgumentError", "Matrix size-incompatible: In[0]: [1,5], In[1]: [4,2] [Op:MatMul] name: "
)


@pytest.mark.parametrize(
    ("error", "stage", "status"),
    [
        (UNSUPPORTED, "first_call", "compile_failed"),
        (CONSTANT, "first_call", "compile_failed"),
        (DYNAMIC, "first_call", "compile_failed"),
        (error_of("InternalError", "ptxas exited with error code 11: xla::gpu"), "first_call", "compile_failed"),
        (INCOMPATIBLE, "first_call", "run_failed"),
        # Only the first call compiles: the same words later come from running.
        (UNSUPPORTED, "measure", "run_failed"),
        (
            error_of("OperatorNotAllowedInGraphError", "Using a symbolic `tf.Tensor` as a Python `bool`"),
            "trace",
            "trace_failed",
        ),
        (NotImplementedError("numpy() is only available when eager execution is enabled."), "trace", "trace_failed"),
        (SystemExit(1), "trace", "trace_failed"),
        (SystemExit(1), "measure", "run_failed"),
        (OOM, "build", "oom"),
        (OOM, "trace", "oom"),
        (OOM, "first_call", "oom"),
        (OOM, "measure", "oom"),
        (MemoryError(), "measure", "oom"),
        (ImportError("libcudnn.so.9: cannot open shared object file"), "start", "run_failed"),
        (ValueError("no such layer"), "build", "run_failed"),
    ],
)
def test_an_error_has_the_status_of_its_kind_and_stage(error, stage, status):
    assert describe_failure(error, stage=stage).status == status
    assert status in MODE_STATUSES


@pytest.mark.parametrize(
    ("error", "stage", "is_wrong"),
    [
        (ValueError("no such layer"), "build", True),
        (SystemExit(2), "build", True),
        # Another machine, or a smaller batch, could hold it: a failure of this run.
        (OOM, "build", False),
        (MemoryError(), "build", False),
        (ImportError("libcudnn"), "start", False),
        (INCOMPATIBLE, "first_call", False),
        (INCOMPATIBLE, "measure", False),
    ],
)
def test_a_model_that_cannot_be_built_is_a_wrong_request(error, stage, is_wrong):
    assert describe_failure(error, stage=stage).wrong_request is is_wrong


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("no such\n  layer"), "ValueError: no such layer"),
        (ValueError(), "ValueError"),
        (ValueError("  \n"), "ValueError"),
        (KeyError("dense"), "KeyError: 'dense'"),
        (SystemExit(3), "the model called sys.exit(3)"),
        (SystemExit("bye\nbye"), "the model called sys.exit('bye\\nbye')"),
        (SystemExit(), "the model called sys.exit(None)"),
    ],
)
def test_the_reason_is_the_error_in_one_line(error, reason):
    assert reason_of(error) == reason


IN_USER_CODE = """in user code:

    File "/home/me/model.py", line 16, in call  *
        return self.dense(x, training=training)
    File "/home/me/layers.py", line 3, in call

    ValueError: Exception encountered when calling L.call().

    \x1b[1mlayer dislikes graphs\x1b[0m
"""
FROM_PYTHON = """{{function_node __inference_f_26}} ValueError: no such thing
Traceback (most recent call last):

  File "/site-packages/tensorflow/python/ops/script_ops.py", line 269, in __call__
    ret = func(*args)
          ^^^^^^^^^^^

ValueError: no such thing


\t [[{{node PyFunc}}]] [Op:__inference_f_26]"""


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            error_of("StagingError", IN_USER_CODE),
            "StagingError: ValueError: Exception encountered when calling L.call(). layer dislikes graphs",
        ),
        (
            error_of("InvalidArgumentError", FROM_PYTHON),
            ("InvalidArgumentError: ValueError: no such thing ValueError: no such thing (at PyFunc)"),
        ),
        (
            OOM,
            (
                "ResourceExhaustedError: Graph execution error: OOM when allocating tensor with shape[512,64,384,384] "
                "and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc"
            ),
        ),
    ],
)
def test_stacks_and_terminal_codes_are_left_out_of_the_reason(error, reason):
    assert reason_of(error) == reason


def refused_text(kind, name):
    """Make XLA's refusal of text at the edge of a graph, as TensorFlow 2.21 writes it."""
    return error_of(
        "InvalidArgumentError",
        "Detected unsupported operations when trying to compile graph __inference_f_124[_XlaMustCompile=true] on "
        f"XLA_CPU_JIT: _{kind} (No registered '_{kind}' OpKernel for XLA_CPU_JIT devices compatible with node "
        "{{node args_0}}\n\t (OpKernel was found, but attributes didn't match) Requested Attributes: T=DT_STRING, "
        f'_output_shapes=[[1,3]], _user_specified_name="{name}", index=0){{{{node args_0}}}}\n[Op:__inference_f_124]',
    )


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [("Arg", "args_0", "input"), ("Arg", "words", "input 'words'"), ("Retval", "", "output")],
)
def test_text_at_the_edge_of_a_compiled_graph_is_told_in_plain_words(kind, name, said):
    failure = describe_failure(refused_text(kind, name), stage="first_call")

    assert failure.reason == f"XLA has no string tensors, and the model's {said} is text"
    assert (failure.status, failure.cause, failure.op) == ("compile_failed", "text_in_xla", None)


def test_what_autograph_caught_is_the_failure_and_not_the_error_it_raised_instead():
    caught = MemoryError("Unable to allocate 1.00 EiB")
    caught.ag_error_metadata = object()
    raised = error_of("StagingError", "in user code:\n\n    MemoryError: Unable to allocate 1.00 EiB")
    raised.__context__ = caught

    failure = describe_failure(raised, stage="trace")

    assert (failure.status, failure.reason) == ("oom", "MemoryError: Unable to allocate 1.00 EiB")


@given(text=st.text(max_size=2000), kind=st.sampled_from([ValueError, SystemExit, MemoryError]))
def test_a_reason_is_one_line_of_at_most_500_characters(text, kind):
    reason = reason_of(kind(text))

    assert len(reason) <= 500
    assert len(reason.splitlines()) == 1


def test_a_long_reason_is_cut_where_it_says_so():
    reason = reason_of(ValueError("node " * 10_000))

    assert len(reason) == 500
    assert reason.startswith("ValueError: node node")
    assert reason.endswith("…")


def test_an_error_that_cannot_be_put_into_words_is_its_class():
    class UnspeakableError(Exception):
        def __str__(self):
            raise ValueError("no words")

    failure = describe_failure(UnspeakableError(), stage="build")
    assert (failure.status, failure.reason) == ("run_failed", "UnspeakableError")


def test_characters_that_a_terminal_would_obey_are_escaped():
    assert reason_of(ValueError("a\nb\x07c\x00\u202ed\ud800")) == r"ValueError: a b\x07c\x00\u202ed\ud800"
