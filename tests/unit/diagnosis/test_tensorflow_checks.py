"""What is said of TensorFlow itself, from how far it came."""

import pytest
from machines import ONEDNN_LINE, answer, cpu_machine, judged, only

from mlflow_tfexec.diagnosis._facts import TensorFlowAnswer

FATAL = "F0000 00:00:1796057848.117234   22270 parse_flags_from_env.cc:234] Unknown flag in {}: --nonsense=1\n"


def test_a_tensorflow_that_computes_is_ok_with_its_versions_and_device():
    result = only("tensorflow", cpu_machine())

    assert (result.status, result.blocks) == ("ok", False)
    assert result.found == "TensorFlow 2.21.0 with Keras 3.15.1 imports in 4.6 s and computes on CPU"


def test_an_absent_tensorflow_blocks_and_is_to_be_installed():
    facts = cpu_machine(
        tensorflow=TensorFlowAnswer({"import": {"error": "ModuleNotFoundError: No module named 'tensorflow'"}})
    )
    result = only("tensorflow", facts)

    assert (result.status, result.blocks) == ("problem", True)
    assert result.found == "TensorFlow is not installed in this environment"
    assert "pip install" in result.do


def test_an_import_that_fails_otherwise_is_told_in_its_own_words():
    facts = cpu_machine(
        tensorflow=TensorFlowAnswer({"import": {"error": "ImportError: libstdc++.so.6: GLIBCXX_3.4.29"}})
    )
    result = only("tensorflow", facts)

    assert (result.status, result.blocks) == ("problem", True)
    assert result.found == "Importing TensorFlow fails: ImportError: libstdc++.so.6: GLIBCXX_3.4.29"


def test_an_import_that_hangs_is_unknown_and_blocks():
    result = only("tensorflow", cpu_machine(tensorflow=answer(until="import", end="no answer within 120 s")))

    assert (result.status, result.blocks) == ("unknown", True)
    assert result.found == "TensorFlow was ended while importing TensorFlow: no answer within 120 s"
    assert "--timeout" in result.do


def test_a_wrong_tensorflow_flag_is_named_where_it_ends_the_process():
    log = ONEDNN_LINE + FATAL.format("TF_XLA_FLAGS")
    facts = cpu_machine(tensorflow=answer(until="device", end="ended by signal 6 (SIGABRT)", log=log))
    result = only("tensorflow", facts)

    assert (result.status, result.blocks) == ("problem", True)
    assert result.found.endswith("while choosing a device: Unknown flag in TF_XLA_FLAGS: --nonsense=1")
    assert result.do == "Correct TF_XLA_FLAGS, or unset it"


def test_a_death_without_a_word_is_told_by_its_signal():
    facts = cpu_machine(tensorflow=answer(until="compute", end="ended by signal 4 (SIGILL)"))
    result = only("tensorflow", facts)

    assert result.found == "TensorFlow's process ended while computing on it: ended by signal 4 (SIGILL)"
    assert "python -c 'import tensorflow'" in result.do


@pytest.mark.parametrize("step", ["device", "compute"])
def test_a_step_that_raises_blocks(step):
    steps = {step: {"error": "InternalError: out of handles"}}
    result = only("tensorflow", cpu_machine(tensorflow=answer(**steps)))

    assert (result.status, result.blocks) == ("problem", True)
    assert result.found.endswith("fails: InternalError: out of handles")


def test_a_process_that_died_only_in_xla_has_shown_that_tensorflow_computes():
    assert only("tensorflow", cpu_machine(tensorflow=answer(until="xla", end="ended by signal 6"))).status == "ok"


def test_tensorflow_that_was_not_asked_is_unknown_and_blocks():
    result = only("tensorflow", cpu_machine(tensorflow=TensorFlowAnswer()))

    assert (result.status, result.blocks) == ("unknown", True)


def test_xla_that_compiles_is_ok():
    assert only("xla", cpu_machine()).found == "XLA compiled and ran a small function in 80 ms"


def test_an_unknown_xla_flag_is_a_problem_that_costs_xla_alone():
    log = ONEDNN_LINE + FATAL.format("XLA_FLAGS")
    result = only("xla", cpu_machine(tensorflow=answer(until="xla", end="ended by signal 6 (SIGABRT)", log=log)))

    assert (result.status, result.blocks) == ("problem", False)
    assert result.found == "XLA ended the process: Unknown flag in XLA_FLAGS: --nonsense=1"
    assert result.do == "Correct XLA_FLAGS, or unset it"


def test_a_missing_libdevice_names_the_package_that_has_it():
    result = only("xla", cpu_machine(tensorflow=answer(xla={"error": "InternalError: libdevice not found at ./x"})))

    assert result.status == "problem"
    assert "nvidia-cuda-nvcc-cu12" in result.do


def test_xla_that_does_not_end_is_unknown():
    result = only("xla", cpu_machine(tensorflow=answer(until="xla", end="no answer within 120 s")))

    assert (result.status, result.found) == ("unknown", "XLA did not finish a small function: no answer within 120 s")


def test_xla_is_unknown_where_tensorflow_did_not_come_so_far():
    assert only("xla", cpu_machine(tensorflow=answer(until="device", end="x"))).status == "unknown"


def test_onednn_is_on_where_tensorflow_says_so():
    assert only("onednn", cpu_machine()).found == "oneDNN's operations are on"


def test_instructions_that_tensorflow_is_built_without_are_named():
    log = ONEDNN_LINE + "To enable the following instructions: AVX2 FMA, in other operations, rebuild TensorFlow with\n"

    assert only("onednn", cpu_machine(tensorflow=answer(log=log))).found.endswith("are built without AVX2 FMA")


def test_onednn_switched_off_is_a_note_that_names_the_variable():
    facts = cpu_machine(tensorflow=answer(log=""), host={"variables": {"TF_ENABLE_ONEDNN_OPTS": "0"}})
    result = only("onednn", facts)

    assert (result.status, result.found) == ("note", "oneDNN's operations are off: TF_ENABLE_ONEDNN_OPTS=0")


def test_onednn_that_is_not_in_the_build_is_a_note_without_a_cure():
    result = only("onednn", cpu_machine(tensorflow=answer(log="")))

    assert (result.status, result.do) == ("note", None)


def test_onednn_is_unknown_without_an_import():
    assert only("onednn", cpu_machine(tensorflow=answer(until="import", end="x"))).status == "unknown"


def test_precisions_that_keep_up_are_ok():
    result = only("mixed_precision", cpu_machine())

    assert result.status == "ok"
    assert result.found == (
        "A 512×512 matrix product on CPU takes 2.0 ms in float32, 2.1 ms in float16, 500 µs in bfloat16"
    )


def test_a_slow_float16_is_a_note():
    times = {"size": 512, "float32": 2_000_000, "float16": 60_000_000, "bfloat16": 1_900_000}
    result = only("mixed_precision", cpu_machine(tensorflow=answer(precision=times)))

    assert result.status == "note"
    assert "no quick code for float16 here" in result.why
    assert "measure mixed_float16 where the model will run" in result.do


def test_a_precision_that_fails_is_unknown_with_its_reason():
    result = only("mixed_precision", cpu_machine(tensorflow=answer(precision={"error": "NotFoundError: no kernel"})))

    assert (result.status, result.found) == ("unknown", "No precision was timed: NotFoundError: no kernel")


def test_a_precision_that_was_not_timed_is_unknown():
    assert only("mixed_precision", cpu_machine(tensorflow=answer(until="precision", end="x"))).status == "unknown"


@pytest.mark.parametrize("step", ["import", "driver", "device", "compute", "precision", "xla"])
@pytest.mark.parametrize("end", ["no answer within 120 s", "ended by signal 11 (SIGSEGV)"])
def test_wherever_the_process_ends_every_check_has_an_answer(step, end):
    from mlflow_tfexec.diagnosis import all_checks

    facts = cpu_machine(tensorflow=answer(until=step, end=end, log=""))

    for check in all_checks():
        for result in judged(check.name, facts):
            assert result.found.strip() == result.found != ""
            assert "None" not in result.found
