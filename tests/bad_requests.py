"""Requests that cannot be right: each is answered in a line or two, and leaves nothing.

Those of `REFUSED_AT_ONCE` are refused before TensorFlow is imported; those of `REFUSED_BY_WORKERS` only when the model
is loaded.
"""

import os
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
FACTORIES = str(HERE / "bad_factories.py")
SECRETS = ("hunter2", "s3cr3t-t0k3n")
"""What no output may hold."""


@dataclass(frozen=True)
class BadRequest:
    """A command line, and words of its answer."""

    name: str
    arguments: tuple[str, ...]
    """Behind `run`. `{files}` stands for the directory of `bad_files.make_files`."""
    words: tuple[str, ...]
    exit_code: int = 2
    in_ci: bool = True

    def command(self, files: Path) -> list[str]:
        """Give the arguments with the names of real files."""
        return ["run", *(argument.replace("{files}", str(files)) for argument in self.arguments)]


def _model(reference: str, *words: str, name: str | None = None) -> BadRequest:
    return BadRequest(name or f"model {reference[:40]!r}", (reference,), words)


def _file(name: str, *words: str) -> BadRequest:
    return BadRequest(f"model {name}", (f"{{files}}/{name}",), (name, *words))


def _option(option: str, value: str, *words: str, more: tuple[str, ...] = ()) -> BadRequest:
    return BadRequest(f"--{option} {value[:40]!r}", ("ResNet50", f"--{option}", value, *more), words)


def _custom_objects(value: str, *words: str) -> BadRequest:
    return BadRequest(f"custom objects {value}", ("{files}/unknown.keras", "--custom-objects", value), words)


def _inputs(name: str, *words: str) -> BadRequest:
    return BadRequest(f"inputs {name}", ("ResNet50", "--inputs", f"{{files}}/{name}"), (name, *words))


_MODELS = (
    _model("", "No model named ''"),
    _model("ResNet5O", "Did you mean ResNet50"),
    _model("nothing like it", "No model named"),
    _model("x" * 5000, "No model named"),
    _model("two\nlines", "No model named 'two\\nlines'"),
    _model("\x1b[31mred", "No model named '\\x1b[31mred'"),
    _model("missing.keras", "No file 'missing.keras'"),
    _model("missing.h5", "No file 'missing.h5'"),
    _model("missing/directory", "No file or directory"),
    _model("missing.py:model", "No file 'missing.py'"),
    _model("bad_factories.py", "No file or directory"),
    _model(f"{FACTORIES}:not-a-name", "No", name="model bad_factories.py:not-a-name"),
    _model(f"{FACTORIES}:", "No", name="model bad_factories.py:"),
    _model("a-module.of-mine:model", "No model named"),
    _model("models:/", "names no model in MLflow"),
    _model("models:/name/1/2/3", "names no model in MLflow"),
    _model("models:/name@", "names no model in MLflow"),
    _model("runs:/abc", "names no model in MLflow"),
    _model("https://somebody:hunter2@example.org/m.keras?token=s3cr3t-t0k3n", "No", name="model with credentials"),
    _model("/dev/null", "'/dev/null'"),
    _file("empty.keras", "not a whole one"),
    _file("cut.keras", "not a whole one"),
    _file("text.keras", "not a whole one"),
    _file("foreign.keras", "without config.json"),
    _file("no_weights.keras", "holds no weights"),
    _file("leads_out.keras", "a path that leads out"),
    _file("deep.keras", "describes no Keras model"),
    _file("a_list.keras", "describes no Keras model"),
    _file("hdf5.keras", "an HDF5 file in spite of its name"),
    _file("directory.keras", "saved_model.pb"),
    _file("loop.keras", "No file"),
    _file("CAPITALS.KERAS", "small letters"),
    _file("empty.h5", "no HDF5 file"),
    _file("text.h5", "no HDF5 file"),
    _file("cut.h5", "cut short"),
    _file("only.weights.h5", "weights only"),
    _file("model.pkl", "no model that Keras loads"),
    _file("model.tflite", "no model that Keras loads"),
    _file("model.onnx", "no model that Keras loads"),
    _file("frozen.pb", "no model that Keras loads"),
    _file("model.pt", "no model that Keras loads"),
    _file("table.csv", "no model that Keras loads"),
    _file("nothing_saved", "no saved_model.pb"),
    _file("empty_program", "is empty"),
    _file("empty_program/saved_model.pb", "Give the directory"),
    _file("of_mlflow", "MLflow model"),
)

_OPTIONS = (
    _option("modes", "eager,xlaa", "Did you mean 'xla'"),
    _option("modes", "eager,xla,xla", "named twice"),
    _option("modes", "graph,xla", "lacks 'eager'"),
    _option("modes", "eager", "nothing to compare"),
    _option("modes", "eager;xla", "No mode named"),
    _option("task", "trian", "Did you mean 'train'"),
    _option("modes", "eager,keras_predict", "not for --task train", more=("--task", "train")),
    _option("preset", "fast", "Known: quick, standard, rigorous"),
    _option("batch-size", "0", "out of range"),
    _option("batch-size", "-1", "out of range"),
    _option("batch-size", "1.5", "not a whole number"),
    _option("batch-size", "nan", "not a whole number"),
    _option("batch-size", "9" * 5000, "not a whole number"),
    _option("batch-size", "8,8", "twice"),
    _option("input-shape", "wide", "not a shape"),
    _option("input-shape", "0,3", "out of range"),
    _option("input-shape", "-1,3", "out of range"),
    _option("input-shape", "9999999999,3", "out of range"),
    _option("input-shape", "a=1;a=2", "give each input once"),
    _option("shapes", "8x8x3,8x8x3", "twice"),
    _option("shapes", "8x8x3,wide", "not a shape"),
    _option("shapes", "8x8x3,9x9x3", "Give one", more=("--dry-run",)),
    _option("dtype", "float23", "Did you mean 'float32'"),
    _option("weights", "missing.weights.h5", "No weights"),
    _option("device", "tpu", "No device named"),
    _option("device", "gpu:-1", "No device named"),
    _option("seed", "-1", "out of range"),
    _option("launches", "0", "out of range"),
    _option("rounds", "many", "not a whole number"),
    _option("block-ms", "0", "out of range"),
    _option("warmup", "-1", "out of range"),
    _option("timeout", "0", "out of range"),
    _option("timeout", "inf", "out of range"),
    _option("margin", "nan", "out of range"),
    _option("time-budget", "soon", "not a number"),
    _option("format", "yaml", "yaml"),
    _option("loss", "mse", "--task train"),
    _option("optimizer", "adam", "--task train"),
    _option("optimizer", "no such name!", "not a name", more=("--task", "train")),
    _option("endpoint", "serve", "no effect"),
    _option("custom-objects", "mine:Class", "no effect"),
    _custom_objects("nothing", "names nothing"),
    _custom_objects("missing.py:Class", "No file 'missing.py'"),
    BadRequest("--no-safe-mode of an application", ("ResNet50", "--no-safe-mode"), ("no effect",)),
    BadRequest("no model", (), ("Missing argument",)),
    BadRequest("two models", ("ResNet50", "ResNet101"), ("unexpected extra argument",)),
    BadRequest("an unknown option", ("ResNet50", "--fast"), ("No such option",)),
    BadRequest("an option without its value", ("ResNet50", "--modes"), ("--modes",)),
    BadRequest(
        "a float64 reference of training", ("ResNet50", "--task", "train", "--float64-reference"), ("inference",)
    ),
    BadRequest("a file as spool", ("ResNet50", "--offline", "--spool-dir", "{files}/text.h5"), ("text.h5",)),
    BadRequest("a spool inside of nothing", ("ResNet50", "--offline", "--spool-dir", "/proc/spool"), ("/proc/spool",)),
)

_INPUTS = (
    _inputs("missing.npz", "missing.npz"),
    _inputs("empty.npz"),
    _inputs("cut.npz"),
    _inputs("text.npz"),
    _inputs("none.npz", "empty"),
    _inputs("pickled.npz", "pickled"),
    _inputs("pickled.npy", "pickled"),
    _inputs("empty.npy"),
    _inputs("huge.npy"),
    _inputs("empty.json"),
    _inputs("broken.json"),
    _inputs("uneven.json", "not of one length"),
    _inputs("mixed.json"),
    _inputs("deep.json"),
    _inputs("empty.parquet"),
    _inputs("text.parquet"),
    _inputs("directory.npz"),
    _inputs("table.csv", ".npz"),
    _inputs("missing.py:inputs", "missing.py"),
    BadRequest(
        "inputs of two forms",
        ("ResNet50", "--inputs", "{files}/numbers.npz,{files}/other.npz"),
        ("same names, shapes and types",),
    ),
    BadRequest(
        "inputs and a shape",
        ("ResNet50", "--inputs", "{files}/numbers.npz", "--input-shape", "3"),
        ("has a shape",),
    ),
)

REFUSED_AT_ONCE = (*_MODELS, *_OPTIONS, *_INPUTS)

QUICK = ("--preset", "quick", "--rounds", "3", "--warmup", "0.2", "--block-ms", "5", "--device", "cpu")
_TWO = (*QUICK, "--modes", "eager,graph")


def _factory(name: str, *words: str, more: tuple[str, ...] = (), exit_code: int = 2, in_ci: bool = False) -> BadRequest:
    arguments = (f"{FACTORIES}:{name}", *_TWO, "--input-shape", "4", *more)
    return BadRequest(f"factory {name}", arguments, words, exit_code, in_ci)


def _given(factory: str, file: str, *words: str) -> BadRequest:
    arguments = (f"{FACTORIES}:{factory}", *_TWO, "--inputs", f"{{files}}/{file}")
    return BadRequest(f"{factory} with {file}", arguments, words, in_ci=False)


def _loaded(name: str, *words: str, more: tuple[str, ...] = ()) -> BadRequest:
    return BadRequest(f"loading {name}", (f"{{files}}/{name}", *_TWO, *more), words, in_ci=False)


REFUSED_BY_WORKERS = (
    _factory("raises", "no weights at nowhere.h5"),
    _factory("raises_base_exception", "I am no Exception", in_ci=True),
    _factory("raises_interrupt", "KeyboardInterrupt"),
    _factory("raises_generator_exit", "GeneratorExit"),
    _factory("raises_without_words", "Unspeakable"),
    _factory("raises_with_credentials", "cannot reach https://", in_ci=True),
    _factory("raises_with_control_characters", "first second red"),
    _factory("raises_a_megabyte", "xxx"),
    _factory("raises_a_chain", "could not build"),
    _factory("recurses", "RecursionError"),
    _factory("asserts", "AssertionError"),
    _factory("returns_nothing", "returned None"),
    _factory("returns_a_number", "int"),
    _factory("returns_text", "str"),
    _factory("returns_a_class", "returned the class Model"),
    _factory("yields", "generator"),
    _factory("is_a_coroutine", "coroutine"),
    _factory("needs_arguments", "path"),
    _factory("nothing_of_that_name", "has no function 'nothing_of_that_name'"),
    _factory("NOT_CALLABLE", "NOT_CALLABLE"),
    _factory("exits", "the model called sys.exit('a farewell')"),
    _factory("exits_with_0", "the model called sys.exit(0)"),
    _factory("ends_the_process", "ended with exit code 0", exit_code=1),
    _factory("aborts", "SIGABRT", exit_code=1),
    _factory("never_returns", "no answer within 40 s", more=("--timeout", "40"), exit_code=1),
    _factory("never_returns_in_native_code", "no answer within 40 s", more=("--timeout", "40"), exit_code=1),
    _factory("reads_standard_input", "EOF"),
    _factory("closes_every_descriptor", "crashed", exit_code=1),
    _factory("starts_threads", "the threads are still there"),
    _factory("starts_processes", "the children are still there", in_ci=True),
    _factory("forks", "the other half is still there"),
    _factory("prints_much", "all said"),
    _factory("asks_for_much_memory", "MemoryError", exit_code=1),
    _factory("rank_3_only", "does not fit the model"),
    _factory("fails_when_called", "this model does not like to be called"),
    _factory("fails_when_hashed", "no variables for you"),
    _given("two_inputs", "rank.npz", "--inputs"),
    _given("two_inputs", "names.npz", "--inputs"),
    _given("two_inputs", "words.npz", "--inputs"),
    _given("two_inputs", "batches.npz", "--inputs"),
    _given("words_only", "numbers.npz", "--inputs"),
    _loaded("broken.py:model", "SyntaxError"),
    _loaded("zeros.py:model", "null bytes"),
    _loaded("latin.py:model", "utf-8"),
    _loaded("garbage_program", "garbage_program"),
    _loaded("unknown.keras", "its weights cannot be read"),
    BadRequest(
        "module bad_imports", (f"{HERE / 'bad_imports.py'}:model", *_TWO), ("a_package_that_nobody_has",), in_ci=False
    ),
    BadRequest("a module that is not there", ("no.such.module:model", *_TWO), ("No module named 'no'",), in_ci=False),
    BadRequest(
        "inputs that raise",
        (f"{FACTORIES}:two_inputs", *_TWO, "--inputs", f"{FACTORIES}:inputs_raise"),
        ("no inputs today",),
        in_ci=False,
    ),
    BadRequest(
        "inputs that exit",
        (f"{FACTORIES}:two_inputs", *_TWO, "--inputs", f"{FACTORIES}:inputs_exit"),
        ("sys.exit(5)",),
        in_ci=False,
    ),
    BadRequest(
        "inputs that are nothing",
        (f"{FACTORIES}:two_inputs", *_TWO, "--inputs", f"{FACTORIES}:inputs_are_nothing"),
        ("gave nothing",),
        in_ci=False,
    ),
    BadRequest(
        "inputs that are no arrays",
        (f"{FACTORIES}:two_inputs", *_TWO, "--inputs", f"{FACTORIES}:inputs_are_words"),
        ("--inputs",),
        in_ci=False,
    ),
    BadRequest(
        "weights that are garbage",
        ("MobileNetV2", *_TWO, "--input-shape", "32,32,3", "--weights", "{files}/garbage.weights.h5"),
        ("weights",),
        in_ci=False,
    ),
)

if os.name != "posix":  # pragma: no cover - Windows only
    _ONLY_POSIX = ("model /dev/null", "model loop.keras", "a spool inside of nothing", "factory forks")
    REFUSED_AT_ONCE = tuple(one for one in REFUSED_AT_ONCE if one.name not in _ONLY_POSIX)
    REFUSED_BY_WORKERS = tuple(one for one in REFUSED_BY_WORKERS if one.name not in _ONLY_POSIX)
