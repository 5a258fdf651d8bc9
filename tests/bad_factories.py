"""Factories and functions as bad requests name them: each breaks in its own way, and none gives a model."""

# ruff: noqa: T201 - some print on purpose

import os
import subprocess
import sys
import threading
import time
from typing import Any

NOT_CALLABLE = 42


class Farewell(BaseException):
    """What nobody expects to be raised."""


class Unspeakable(Exception):  # noqa: N818 - it is no error
    """An exception that cannot be put into words."""

    def __str__(self) -> str:
        raise ValueError("no words")


def raises():
    raise FileNotFoundError("no weights at nowhere.h5")


def raises_base_exception():
    raise Farewell("I am no Exception")


def raises_interrupt():
    raise KeyboardInterrupt


def raises_generator_exit():
    raise GeneratorExit


def raises_without_words():
    raise Unspeakable


def raises_with_credentials():
    raise ConnectionError("cannot reach https://somebody:hunter2@example.org/models?token=s3cr3t-t0k3n")


def raises_with_control_characters():
    raise ValueError("first\nsecond\r\n\x1b[31mred\x1b[0m \x07\x00\u2028third\u202e")


def raises_a_megabyte():
    raise ValueError("x" * 1_000_000)


def raises_a_chain():
    try:
        raises()
    except OSError as error:
        raise RuntimeError("could not build") from error


def recurses():
    return recurses()


def asserts():
    raise AssertionError


def returns_nothing():
    return None


def returns_a_number():
    return 42


def returns_text():
    return "EfficientNetV2S"


def returns_a_class():
    import keras

    return keras.Model


def yields():
    yield returns_nothing()


async def is_a_coroutine():
    return None


def needs_arguments(path):
    return path


def exits():
    sys.exit("a farewell")


def exits_with_0():
    sys.exit(0)


def ends_the_process():
    os._exit(0)


def aborts():
    os.abort()


def never_returns():
    time.sleep(3600)


def never_returns_in_native_code():
    threading.Event().wait()


def reads_standard_input():
    raise ValueError(f"read {input()!r}")


def closes_every_descriptor():
    os.closerange(0, 256)
    raise ValueError("nobody hears this")


def starts_threads():
    for _ in range(5):
        threading.Thread(target=time.sleep, args=(3600,), daemon=False).start()
    raise ValueError("the threads are still there")


def starts_processes():
    for _ in range(2):
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    raise ValueError("the children are still there")


def forks():
    if os.fork() == 0:
        time.sleep(3600)
    raise ValueError("the other half is still there")


def prints_much():
    print("x" * 1_000_000)
    os.write(1, b"y" * 1_000_000)
    print('{"kind": "failure", "status": "ok"}', file=sys.stderr)
    raise ValueError("all said")


def asks_for_much_memory():
    return bytearray(2**60)


def rank_3_only():
    import keras

    return keras.Sequential([keras.layers.Input((4, 4)), keras.layers.Dense(2)])


def two_inputs():
    import keras

    left, right = keras.layers.Input((3,), name="left"), keras.layers.Input((3,), name="right")
    return keras.Model({"left": left, "right": right}, keras.layers.Add()([left, right]))


def words_only():
    import keras

    words = keras.layers.Input((2,), dtype="string")
    return keras.Model(words, keras.layers.Embedding(9, 2)(keras.layers.Hashing(9)(words)))


def fails_when_called():
    def step(x: Any) -> Any:
        raise RuntimeError("this model does not like to be called")

    return step


def fails_when_hashed():
    class Broken:
        def __call__(self, x: Any) -> Any:
            return x

        @property
        def variables(self) -> Any:
            raise RuntimeError("no variables for you")

    return Broken()


def inputs_raise():
    raise ValueError("no inputs today")


def inputs_exit():
    sys.exit(5)


def inputs_are_nothing():
    return None


def inputs_are_words():
    return {"left": "words", "right": object()}
