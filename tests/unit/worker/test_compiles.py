"""Compilations by XLA, counted from lines as TensorFlow writes them."""

from mlflow_tfexec.worker.compiles import CompileLog, Compiles, tell_of_compiles

LINE = (
    "I0000 00:00:1796057721.373500   19528 device_compilation_profiler.cc:113] Compiled __inference_f_19 {n} times, "
    "compile time: {us} us, cumulative: 204220 us (0 us / 204 ms)\n"
)


def test_compilations_and_their_time_add_up_from_reading_to_reading(tmp_path):
    path = tmp_path / "worker.log"
    path.write_text("noise\n" + LINE.format(n=1, us=204_220) + "a model prints: Compiled with love\n")
    log = CompileLog(str(path))
    assert log.compiles() == Compiles(1, 204_220_000)
    assert log.compiles() == Compiles(1, 204_220_000)
    with path.open("a") as stream:
        stream.write(LINE.format(n=2, us=780))
    assert log.compiles() == Compiles(2, 205_000_000)


def test_a_line_that_is_still_being_written_is_read_when_it_is_whole(tmp_path):
    path = tmp_path / "worker.log"
    whole = LINE.format(n=1, us=5)
    path.write_text(whole[:60])
    log = CompileLog(str(path))
    assert log.compiles() == Compiles()
    path.write_text(whole)
    assert log.compiles() == Compiles(1, 5_000)


def test_without_a_log_nothing_is_known(tmp_path):
    assert CompileLog(None).compiles() is None
    assert CompileLog(str(tmp_path / "absent")).compiles() is None


def test_what_the_user_has_asked_tensorflow_to_tell_is_kept():
    environ = {"TF_CPP_VMODULE": "xla_compiler=2", "TF_CPP_MIN_LOG_LEVEL": "3"}
    tell_of_compiles(environ)
    assert environ == {
        "TF_CPP_VMODULE": "xla_compiler=2,device_compilation_profiler=1",
        "TF_CPP_MIN_LOG_LEVEL": "0",
    }
