"""Live objects of a program's `__main__`, made again in another process, which knows nothing of that program."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.tf

PROGRAM = Path(__file__).with_name("live_objects.py")

SAME = (
    "sequential", "functional", "lambda_layer", "no_arguments", "frozen", "not_built", "with_config", "bare_layer",
    "half", "module", "traced_module", "traced", "closure", "branching", "cell", "lambda", "over_keras", "partial",
)  # fmt: skip


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """Pack every object in one process and make it again in a second one, whose `__main__` is another."""
    directory = tmp_path_factory.mktemp("packed")
    maker = f"import runpy, sys; sys.argv = ['x', '--make', {str(directory / 'plan.json')!r}]; "
    maker += f"runpy.run_path({str(PROGRAM)!r}, run_name='maker')['make'](__import__('pathlib').Path(sys.argv[2]))"
    for arguments in ([str(PROGRAM), str(directory)], ["-c", maker]):
        done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=directory)
        assert done.returncode == 0, done.stderr[-3000:]
    plan, made = (json.loads((directory / name).read_text()) for name in ("plan.json", "made.json"))
    return {name: (plan[name], made.get(name)) for name in plan}


@pytest.mark.parametrize("name", SAME)
def test_an_object_made_again_has_the_same_weights_and_answers(packed, name):
    plan, made = packed[name]

    assert made.pop("graph") is True
    assert made == plan["facts"]


@pytest.mark.parametrize(
    ("name", "kind", "type_", "called"),
    [
        ("functional", "Keras model", "keras.Functional", "functional"),
        ("no_arguments", "Keras model", "__main__.NoArguments", "no_arguments"),
        ("module", "tf.Module", "__main__.Module", "Module"),
        ("traced", "tf.function", "__main__.traced", "traced"),
        ("closure", "callable", "__main__.closure", "closure"),
        ("partial", "callable", "functools.partial", "functools.partial"),
    ],
)
def test_an_object_has_a_name_and_says_what_it_is(packed, name, kind, type_, called):
    plan, _ = packed[name]

    assert (plan["kind"], plan["type"]) == (kind, type_)
    assert plan["name"].startswith(called)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "arguments",
            "Keras cannot save the Arguments in __main__.Arguments: it takes arguments and has no get",
        ),
        ("foreign_variable", "ForeignVariable.factor is a tf.Variable, which Keras does not save."),
        ("concrete", "cannot be brought to another process (TypeError: cannot pickle 'FuncGraph' object)"),
        ("lock", "The callable functools.partial cannot be brought to another process (TypeError: cannot pickle"),
    ],
)
def test_what_cannot_be_brought_along_is_named_with_a_way_out(packed, name, text):
    refused = packed[name][0]["refused"]

    assert text in refused
    assert "path/to/file.py:function" in refused
    assert len(refused.splitlines()) <= 2
