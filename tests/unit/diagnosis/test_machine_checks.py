"""What is said of cores, memory, settings, and where results go."""

import itertools

import pytest
from machines import answer, cpu_machine, judged, only

from mlflow_tfexec.diagnosis import all_checks, diagnose, is_ready
from mlflow_tfexec.diagnosis._facts import EnvironmentManager, Project, Requirements, Spool, Tracking
from mlflow_tfexec.diagnosis.mlflow_run import start_line
from mlflow_tfexec.measurement.variables import result_variables


def cpu(**changes):
    return {"cpu": {"name": "AMD EPYC 9654", "logical_cores": 96, "usable_cores": 8} | changes}


def test_a_machine_in_order_is_ready_with_no_problem():
    results = [result for found in diagnose(cpu_machine()).values() for result in found]

    assert is_ready(results)
    assert [result.found for result in results if result.status in {"problem", "unknown"}] == []


def test_one_result_that_blocks_is_enough_not_to_be_ready():
    facts = cpu_machine(spool=Spool("/proc/x", problem="/proc may not be written to"))

    assert not is_ready([result for found in diagnose(facts).values() for result in found])


def test_checks_have_positions_of_their_own_and_groups_stay_together():
    positions = [check.position for check in all_checks()]
    groups = [check.group for check in all_checks()]

    assert positions == sorted(set(positions))
    assert [group for place, group in enumerate(groups) if group not in groups[:place]] == [
        "TensorFlow", "GPU", "Machine", "Settings", "Results", "Start",
    ]  # fmt: skip
    assert sum(a != b for a, b in itertools.pairwise(groups)) == 5


def test_cores_are_counted():
    assert only("cpu", cpu_machine()).found == "8 of 96 cores may be used (AMD EPYC 9654)"
    assert only("cpu", cpu_machine(host=cpu(logical_cores=8))).found == "8 cores may be used (AMD EPYC 9654)"


def test_cores_that_cannot_be_counted_are_unknown():
    assert only("cpu", cpu_machine(host={"cpu": {}})).status == "unknown"


def test_a_quota_below_the_cores_is_a_note_with_lines_that_fit_it():
    results = judged("cpu", cpu_machine(host=cpu(cgroup_cpu_quota=2.5)))

    assert [result.status for result in results] == ["ok", "note"]
    assert results[1].found == "The control group grants 2.5 cores' time, on 8 cores"
    assert "--cpuset-cpus 0-1" in results[1].do
    assert "TF_NUM_INTRAOP_THREADS=2" in results[1].do


def test_a_quota_below_one_core_leaves_one():
    results = judged("cpu", cpu_machine(host=cpu(cgroup_cpu_quota=0.5)))

    assert "--cpuset-cpus 0, taskset -c 0)" in results[1].do


@pytest.mark.parametrize("quota", [8.0, 16.0])
def test_a_quota_that_the_cores_cannot_use_up_is_not_worth_a_word(quota):
    assert only("cpu", cpu_machine(host=cpu(cgroup_cpu_quota=quota))).status == "ok"


def test_threads_that_are_set_are_a_note():
    results = judged("cpu", cpu_machine(host={"variables": {"OMP_NUM_THREADS": "1", "TF_NUM_INTRAOP_THREADS": "2"}}))

    assert results[1].found == "Threads are set: TF_NUM_INTRAOP_THREADS=2, OMP_NUM_THREADS=1"


@pytest.mark.parametrize(("free_mb", "status"), [(3_499, "problem"), (3_500, "note"), (6_999, "note"), (7_000, "ok")])
def test_memory_is_held_against_five_processes_of_the_size_that_was_seen(free_mb, status):
    assert only("memory", cpu_machine(available_memory_mb=free_mb)).status == status


def test_a_memory_limit_is_named():
    facts = cpu_machine(available_memory_mb=2048, host={"memory": {"cgroup_limit_mb": 2048}})

    assert only("memory", facts).found.startswith("2.00 GiB are free (the control group's limit is 2.00 GiB)")


def test_memory_is_unknown_without_a_process_to_compare_with():
    assert only("memory", cpu_machine(tensorflow=answer(until="compute", end="x"))).status == "unknown"
    assert only("memory", cpu_machine(available_memory_mb=None)).status == "unknown"


@pytest.mark.parametrize(("load", "status"), [(0.0, "ok"), (24.0, "ok"), (24.1, "note")])
def test_a_load_above_a_quarter_of_the_cores_is_a_note(load, status):
    assert only("other_work", cpu_machine(load=load)).status == status


def test_a_system_that_keeps_no_load_is_not_judged():
    assert judged("other_work", cpu_machine(load=None)) == []


def flags(**variables):
    return judged("flags", cpu_machine(host={"variables": result_variables(variables)}))


def test_nothing_set_is_ok():
    assert [result.status for result in flags()] == ["ok"]


def test_what_other_checks_speak_of_is_not_said_twice():
    assert [result.status for result in flags(OMP_NUM_THREADS="1", TF_ENABLE_ONEDNN_OPTS="0")] == ["ok"]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("KERAS_BACKEND", "jax", "overrides it for its own processes"),
        ("TF_XLA_FLAGS", "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit", "`graph` is no longer a graph without XLA"),
        ("XLA_FLAGS", "--xla_dump_to=/tmp/d", "makes XLA write files"),
        ("CUDA_LAUNCH_BLOCKING", "1", "every kernel is waited for"),
        ("CUDA_CACHE_DISABLE", "1", "compiled again by every process"),
        ("TF_DETERMINISTIC_OPS", "true", "Keras switches its own XLA off"),
        ("TF_FUNCTION_JIT_COMPILE_DEFAULT", "1", "`graph` is `xla`"),
        ("TF_USE_LEGACY_KERAS", "1", "Keras 2"),
    ],
)
def test_a_setting_that_bends_results_is_one_note_with_its_value(name, value, words):
    (result,) = flags(**{name: value})

    assert (result.status, result.found) == ("note", f"{name}={value}")
    assert words in result.why
    assert result.do


@pytest.mark.parametrize(("name", "value"), [("TF_DETERMINISTIC_OPS", "0"), ("KERAS_BACKEND", "tensorflow")])
def test_a_switch_that_is_off_is_not_worth_a_word(name, value):
    assert [result.status for result in flags(**{name: value})] == ["ok"]


def test_other_variables_are_listed_and_shortened():
    (result,) = flags(LD_LIBRARY_PATH="/opt/" + 100 * "x", MALLOC_ARENA_MAX="2")

    assert result.status == "note"
    assert result.found.startswith("Also set: LD_LIBRARY_PATH=/opt/xxx")
    assert result.found.endswith("…, MALLOC_ARENA_MAX=2")


def test_xla_s_flags_are_listed_beside_tensorflow_s():
    found = flags(TF_XLA_FLAGS="--tf_xla_auto_jit=2", XLA_FLAGS="--xla_gpu_autotune_level=0")

    assert [result.found for result in found] == [
        "TF_XLA_FLAGS=--tf_xla_auto_jit=2",
        "Also set: XLA_FLAGS=--xla_gpu_autotune_level=0",
    ]


def test_credentials_in_flags_are_not_shown():
    (result,) = flags(XLA_FLAGS="--xla_dump_to=https://me:hunter2@bucket.example/d")

    assert "hunter2" not in result.found + result.why


def test_a_store_that_answers_is_ok():
    assert only("tracking_store", cpu_machine()).found == "MLflow answers at http://mlflow.example:5000"


def test_a_database_that_is_to_be_made_is_ok():
    facts = cpu_machine(tracking=Tracking("sqlite:////here/mlflow.db", is_new=True))

    assert "which the first benchmark creates" in only("tracking_store", facts).found


def test_a_store_that_does_not_answer_blocks_and_keeps_its_advice():
    text = (
        "Cannot use the MLflow tracking server at http://x:1: Connection refused.\nStart it or measure with --offline."
    )
    result = only("tracking_store", cpu_machine(tracking=Tracking("http://x:1", problem=text)))

    assert (result.status, result.blocks) == ("problem", True)
    assert result.found == "Cannot use the MLflow tracking server at http://x:1: Connection refused"
    assert result.do == "Start it or measure with --offline"


@pytest.mark.parametrize("name", ["tracking_store", "spool_directory"])
def test_what_was_not_asked_is_unknown(name):
    assert only(name, cpu_machine(tracking=None, spool=None)).status == "unknown"


def test_a_spool_that_cannot_be_written_to_blocks():
    result = only("spool_directory", cpu_machine(spool=Spool("/s", problem="/ may not be written to")))

    assert (result.status, result.blocks) == ("problem", True)


@pytest.mark.parametrize(("free_mb", "status"), [(499, "note"), (500, "ok"), (None, "ok")])
def test_a_disk_that_is_nearly_full_is_a_note(free_mb, status):
    assert only("spool_directory", cpu_machine(spool=Spool("/s", free_mb=free_mb))).status == status


def test_packages_that_lack_are_named():
    packages = Requirements("mlflow-tfexec", version="0.1.0", met=11, unmet=("mlflow<4,>=3.1 (2.9.2 is installed)",))
    result = only("packages", cpu_machine(packages=packages))

    assert (result.status, result.found) == ("problem", "Python 3.11.7 lacks mlflow<4,>=3.1 (2.9.2 is installed)")


def test_packages_are_unknown_where_nobody_says_what_is_asked_for():
    assert only("packages", cpu_machine(packages=Requirements("mlflow-tfexec"))).status == "unknown"


LOCAL, CONDA, UV, VIRTUALENV = (
    EnvironmentManager(name, found=f"{name} 1.0") for name in ("local", "conda", "uv", "virtualenv")
)
NO_LOCAL = EnvironmentManager("local", problem="lacks mlflow")


@pytest.mark.parametrize(
    ("managers", "line"),
    [
        ((LOCAL, CONDA, UV, VIRTUALENV), "mlflow run . --env-manager local -P model=EfficientNetV2S"),
        ((NO_LOCAL, CONDA, UV, VIRTUALENV), "mlflow run . -P model=EfficientNetV2S"),
        ((NO_LOCAL, UV, VIRTUALENV), "mlflow run . --env-manager uv -P model=EfficientNetV2S"),
        ((NO_LOCAL, VIRTUALENV), "mlflow run . --env-manager virtualenv -P model=EfficientNetV2S"),
        ((NO_LOCAL,), None),
    ],
)
def test_the_line_is_that_of_the_best_environment_that_works(managers, line):
    project = Project("/src", is_here=True, managers=managers)

    assert start_line(project) == line
    assert only("mlflow_run", cpu_machine(project=project)).status == ("ok" if line else "problem")


def test_the_line_names_the_project_and_the_path_where_they_are_elsewhere():
    project = Project("/my src", managers=(LOCAL,), path_entry="/my venv/bin")

    assert start_line(project) == (
        "PATH='/my venv/bin':$PATH mlflow run '/my src' --env-manager local -P model=EfficientNetV2S"
    )


def test_without_a_clone_the_line_is_our_own_command():
    result = only("mlflow_run", cpu_machine(project=Project()))

    assert (result.status, result.do) == ("ok", "Start with: mlflow-tfexec run EfficientNetV2S")
