"""Why a mode failed: what TensorFlow's messages say of the operation, the layer and the line of code.

The patterns are words of TensorFlow 2.16 to 2.21 and Keras 3. What matches none has no cause, and its reason stands
alone.
"""

import itertools
import re
import sysconfig
import traceback
from dataclasses import dataclass
from pathlib import PurePath

_Frame = tuple[str, int, str]
"""Path, line, function."""

TEXT_IN_XLA = "text_in_xla"

_NOT_THE_MODEL_S = (
    *("site-packages", "dist-packages", "mlflow_tfexec", "__autograph_generated", ".pyx", "<"),
    sysconfig.get_path("stdlib"),
)


@dataclass(frozen=True)
class Cause:
    """One kind of trouble, recognised by the words of an error."""

    code: str
    """As recordings keep it; what it means is said by `statistics.failure_advice`."""
    pattern: re.Pattern[str]


def _cause(code: str, pattern: str) -> Cause:
    return Cause(code, re.compile(pattern, re.IGNORECASE))


# The first that matches has it: what is more specific stands above.
CAUSES = (
    _cause("gpu_newer_than_build", r"no kernel image is available|no_binary_for_gpu|invalid_ptx|unsupported gpu arch"),
    _cause("libdevice_missing", r"libdevice"),
    _cause("ptxas_missing", r"ptxas"),
    _cause("cuda_library_missing", r"dnn library is not found|cudnn_status_not_initialized|could not load library lib"),
    _cause("python_function_in_graph", r"\b(Eager)?PyFunc(Stateless)?\b"),
    _cause(TEXT_IN_XLA, r"AsString|StringFormat|\bString\w+ \(No reg|LookupTable\w*|'string'|DT_STRING|PrintV2 \(No"),
    _cause("operation_without_xla", r"Detected unsupported operations when trying to compile"),
    _cause(
        "shape_from_values",
        r"must be a compile-time constant|Reading input as constant from a dynamic tensor|dynamic dimension|"
        r"XLA compilation requires (a fixed|that)|bounded dynamic",
    ),
    _cause(
        "variables_in_function",
        r"only supports singleton tf\.Variables|tried to create variables on (a )?non-first call|"
        r"can only create variables on the first call",
    ),
    _cause(
        "tensor_as_python_value",
        r"symbolic `?tf\.Tensor|symbolic (Keras)?Tensor|numpy\(\) is only available|has no attribute 'numpy'|"
        r"convert a symbolic|not allowed in (AutoGraph|Graph execution)",
    ),
    _cause(
        "branches_differ",
        r"must also be initialized in the \w+ branch|must (also )?return a value|is None at the (start|end) of the|"
        r"(true_fn|branches).*must (have|return) the same|(changes|changed) (type|shape|dtype|its) .*loop|"
        r"has shape .* before the loop|must be defined before the loop",
    ),
    _cause("name_not_allowed", r"is not a valid (root )?scope name"),
    _cause("shape_unknown_in_graph", r"as_list\(\) is not defined on an unknown|rank is (unknown|undefined)"),
    _cause("tensor_from_another_graph", r"InaccessibleTensorError|is out of scope|must be from the same graph"),
    _cause("not_a_number", r"CheckNumerics|Tensor had (NaN|Inf)|check_numerics"),
    _cause("variable_on_another_device", r"Trying to access resource .* located in device"),
    _cause("not_deterministic_op", r"deterministic .*(not|isn't) (yet )?(implemented|supported)"),
    _cause("wrong_input", r"incompatible with the layer|Matrix size-incompatible|expected .*ndim=|Expected shape"),
)

_MOST_TEXT = 100_000
"""Characters of a message that are read. TensorFlow's, with its stacks, have some thousands."""

# What a graph begins and ends with, where XLA refuses it for its type.
_INPUT_OR_OUTPUT = re.compile(r"\b_(Arg|Retval) \(No registered '_\1' .*?Requested Attributes: ([^)]*)", re.DOTALL)
_INPUT_NAME = re.compile(r'_user_specified_name="([^"]+)"')
# TensorFlow's own name for an argument that has none.
_UNNAMED = re.compile(r"(args|kwargs|inputs)?(_\d+)*")

_UNSUPPORTED_OPS = re.compile(r"\b(\w+) \(No registered '\w+' OpKernel")
_OP = (re.compile(r"with op (\w+)"), re.compile(r"\[Op:(?!__)(\w+)\]"), re.compile(r"\{\{node [\w./]*?(\w+)\}\}"))
_NODE = re.compile(r"\{\{node ([\w./-]+)\}\}")
# What TensorFlow opens inside a layer: lookups, loops, branches, calls.
_INNER_SCOPE = re.compile(r"(None_Lookup|while|cond|map|\w*PartitionedCall|_?\d+)(_\d+)?")
_KERAS_LAYER = re.compile(
    r"[Ee]xception encountered when calling (?:layer )?['\"]?([\w.]+?)['\"]?(?:\.call\(\)| \(|$|\.)"
)
# TensorFlow takes the name of a function without a name out of its stacks.
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in ?(\S*)$', re.MULTILINE)
_NUMBERED = re.compile(r"_\d+$")


@dataclass(frozen=True)
class Explanation:
    """What is known of a failure beside its reason. Absent parts are None."""

    cause: str | None = None
    op: str | None = None
    """TensorFlow's name of the operation; several are separated by commas."""
    layer: str | None = None
    source: str | None = None
    """Line of the model's code, as `model.py:7 in call`."""


def text_of(error: BaseException) -> str:
    """Give the message of *error*, which of a model's own class may fail to say it."""
    try:
        return str(error)[:_MOST_TEXT]
    except Exception:  # noqa: BLE001 - the class is the model's
        return ""


def in_plain_words(text: str) -> str | None:
    """Say what a message means that names no operation of the model's. None: it speaks for itself.

    XLA refuses text as an input or output of the graph by TensorFlow's inner names, `_Arg` and `_Retval`.
    """
    found = [(kind, attributes) for kind, attributes in _INPUT_OR_OUTPUT.findall(text) if "DT_STRING" in attributes]
    if not found:
        return None
    kind, attributes = found[0]
    name = _INPUT_NAME.search(attributes)
    shown = f" {name[1]!r}" if name and not _UNNAMED.fullmatch(name[1]) else ""
    return f"XLA has no string tensors, and the model's {'input' if kind == 'Arg' else 'output'}{shown} is text"


def find_cause(text: str) -> Cause | None:
    """Find the kind of trouble that *text* tells of."""
    return next((cause for cause in CAUSES if cause.pattern.search(text)), None)


def explain(error: BaseException) -> Explanation:
    """Say what *error* tells of the cause, the operation, the layer and the line."""
    text = f"{type(error).__name__}: {text_of(error)}"
    cause = find_cause(text)
    return Explanation(
        cause=cause.code if cause else None, op=_operation(text), layer=_layer(text), source=_source(error)
    )


def _operation(text: str) -> str | None:
    unsupported = list(dict.fromkeys(_UNSUPPORTED_OPS.findall(text)))
    if unsupported:
        # TensorFlow's own operations around the model, such as `_Arg`, are an input or an output and none of its code.
        return ", ".join(name for name in unsupported if not name.startswith("_")) or None
    for pattern in _OP:
        found = pattern.search(text)
        if found:
            return _NUMBERED.sub("", found[1])
    return None


def _layer(text: str) -> str | None:
    """Name the Keras layer: as Keras says it, or from the path of the node inside the graph."""
    said = _KERAS_LAYER.search(text)
    if said:
        return said[1]
    node = _NODE.search(text)
    scopes = node[1].split("/")[:-1] if node else []
    named = list(itertools.takewhile(lambda scope: not _INNER_SCOPE.fullmatch(scope), scopes))
    # model/layer/Operation; a shorter path is an operation outside any layer.
    return named[-1] if len(named) > 1 else None


def _source(error: BaseException) -> str | None:
    """Find the innermost line of the model's own code.

    A running graph tells where its operation was made; AutoGraph, which line its code stands for; else Python knows.
    """
    for frames in (_frames_in_text(text_of(error)), _autograph_frames(error), _python_frames(error)):
        own = [frame for frame in frames if not any(part in frame[0] for part in _NOT_THE_MODEL_S)]
        if own:
            path, line, function = own[-1]
            return f"{PurePath(path).name}:{line}{f' in {function}' if function else ''}"
    return None


def _frames_in_text(text: str) -> list[_Frame]:
    return [(path, int(line), function) for path, line, function in _FRAME.findall(text)]


def _autograph_frames(error: BaseException) -> list[_Frame]:
    """Take the frames of the code that AutoGraph has rewritten, as it was before.

    Source: `_ErrorMetadata` in tensorflow/python/autograph/impl/api.py
    """
    stack = getattr(getattr(error, "ag_error_metadata", None), "translated_stack", ())
    # The innermost frame comes first.
    return [(frame.filename, frame.lineno, frame.function_name) for frame in reversed(stack)]


def _python_frames(error: BaseException) -> list[_Frame]:
    return [(frame.filename, frame.lineno or 0, frame.name) for frame in traceback.extract_tb(error.__traceback__)]
