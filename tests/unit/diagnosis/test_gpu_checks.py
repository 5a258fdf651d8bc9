"""What is said of GPUs, from what the driver, CUDA and TensorFlow said."""

import pytest
from machines import H100, ON_GPU, STEPS, answer, cpu_machine, gpu_machine, judged, only

from mlflow_tfexec.diagnosis._facts import CudaFiles, Requirements
from mlflow_tfexec.diagnosis.compute_capability import fit_of

GPU_CHECKS = ("cuda_libraries", "gpu_compiler", "compute_capability", "mig", "tf32")
MISSING = "I0000 00:00:1796.389966 2 dso_loader.cc:144] Could not load dynamic library '{}'; dlerror: {}: cannot open\n"


def blind(**changes):
    """Make a machine whose driver shows an H100 that TensorFlow does not see."""
    return gpu_machine(**({"tensorflow": answer(driver={"init": 0})} | changes))


@pytest.mark.parametrize("name", GPU_CHECKS)
def test_a_machine_without_a_gpu_is_not_bothered_with_gpu_questions(name):
    assert judged(name, cpu_machine()) == []


def test_no_gpu_is_a_note_and_no_problem():
    result = only("gpu", cpu_machine())

    assert (result.status, result.blocks) == ("note", False)
    assert result.found == "No GPU: NVIDIA driver library libnvidia-ml.so.1 not found"


def test_a_broken_driver_is_a_problem():
    mismatch = "NVIDIA driver library and kernel module have different versions: reboot, or reload the module"
    result = only("gpu", cpu_machine(host={"gpu_driver": {"problem": mismatch}}))

    assert (result.status, result.found) == ("problem", f"No GPU: {mismatch}")


def test_a_gpu_hidden_on_purpose_is_a_note():
    host = {"gpu_driver": {"version": "575"}, "gpus_hidden": 1, "variables": {"CUDA_VISIBLE_DEVICES": "-1"}}
    result = only("gpu", cpu_machine(host=host))

    assert (result.status, result.found) == ("note", "CUDA_VISIBLE_DEVICES='-1' hides all 1 GPU(s)")


def test_mig_mode_without_an_instance_is_a_problem():
    result = only("gpu", cpu_machine(host={"gpu_driver": {"version": "575"}, "gpus_hidden": 1}))

    assert (result.status, result.found) == ("problem", "1 GPU(s) in MIG mode without an instance")


def test_a_gpu_that_fell_off_the_bus_is_a_problem():
    host = {"gpu_driver": {"version": "575"}, "gpus_unusable": [{"index": 0, "problem": "GPU is lost"}]}
    result = only("gpu", cpu_machine(host=host))

    assert (result.status, result.found) == ("problem", "No usable GPU. GPU 0: GPU is lost")


def test_a_driver_that_finds_no_gpu_is_a_note():
    assert only("gpu", cpu_machine(host={"gpu_driver": {"version": "575"}})).status == "note"


def test_a_gpu_that_tensorflow_uses_is_ok_with_its_facts():
    result = only("gpu", gpu_machine())

    assert result.status == "ok"
    assert result.found == (
        "TensorFlow sees 1 GPU, and would use NVIDIA H100 80GB HBM3 "
        "(compute capability 9.0, 79.65 GiB, driver 575.57.08)"
    )


def test_a_gpu_without_nvml_is_ok_where_tensorflow_uses_it():
    facts = cpu_machine(tensorflow=answer(device=STEPS["device"] | {"gpus_seen": 1, "device": "GPU:0"}))

    assert only("gpu", facts).found == "TensorFlow sees 1 GPU, and would use a GPU"


def test_gpus_that_tensorflow_leaves_out_are_a_note():
    results = judged("gpu", gpu_machine(host={"gpus": [H100, H100 | {"name": "NVIDIA T400"}]}))

    assert [result.status for result in results] == ["ok", "note"]
    assert results[1].found == "CUDA shows 2 GPUs, TensorFlow takes 1"


def test_whether_tensorflow_sees_the_gpu_is_unknown_where_it_died_before():
    facts = gpu_machine(tensorflow=answer(until="device", end="ended by signal 6 (SIGABRT)"))

    assert only("gpu", facts).status == "unknown"


def test_a_missing_driver_library_is_the_cause_that_is_named_first():
    facts = blind(
        tensorflow=answer(
            driver={"missing": "libcuda.so.1: cannot open shared object file"},
            log=MISSING.format("libcuda.so.1", "libcuda.so.1") + MISSING.format("libcudnn.so.9", "libcudnn.so.9"),
        )
    )
    result = only("gpu", facts)

    assert result.status == "problem"
    assert result.found == (
        "The driver shows NVIDIA H100 80GB HBM3, but TensorFlow sees no GPU: "
        "CUDA's driver library cannot be loaded (libcuda.so.1: cannot open shared object file)"
    )
    assert "NVIDIA_DRIVER_CAPABILITIES" in result.do


def test_a_driver_that_does_not_start_is_told_with_its_code():
    driver = {"init": 803, "init_text": "system has unsupported display driver / cuda driver combination"}
    result = only("gpu", blind(tensorflow=answer(driver=driver)))

    assert "cuInit answers 803 (system has unsupported display driver / cuda driver combination)" in result.found


def test_missing_cuda_libraries_are_named():
    log = (
        MISSING.format("libcudnn.so.9", "x")
        + MISSING.format("libcublas.so.12", "x")
        + MISSING.format("libnvinfer.so.8", "x")
    )
    result = only("gpu", blind(tensorflow=answer(driver={"init": 0}, log=log)))

    assert result.found.endswith("its CUDA libraries are not there (libcudnn.so.9, libcublas.so.12)")
    assert result.do == "Run: pip install 'tensorflow[and-cuda]'"


def test_a_build_without_cuda_is_named_before_anything_that_it_would_not_use():
    device = STEPS["device"] | {"built_with_cuda": False}
    result = only("gpu", blind(tensorflow=answer(device=device)))

    assert result.found.endswith("TensorFlow sees no GPU: this TensorFlow is built without CUDA")


def test_several_gpus_of_a_name_are_counted():
    result = only("gpu", blind(host={"gpus": [H100, H100]}))

    assert result.found.startswith("The driver shows 2 × NVIDIA H100 80GB HBM3, but")


def test_loaded_libraries_are_ok_with_their_versions():
    assert (
        only("cuda_libraries", gpu_machine()).found == "Loaded CUDA 12.8 (built for 12.5.1), cuDNN 9.3.0 (built for 9)"
    )


def test_libraries_that_the_loader_missed_are_a_problem():
    facts = blind(tensorflow=answer(driver={"init": 0}, log=MISSING.format("libcufft.so.11", "x")))
    result = only("cuda_libraries", facts)

    assert (result.status, result.found) == ("problem", "TensorFlow looked in vain for libcufft.so.11")


def test_libraries_that_were_never_reached_are_unknown():
    assert only("cuda_libraries", blind()).status == "unknown"
    assert only("cuda_libraries", blind(tensorflow=answer(until="import", end="x"))).status == "unknown"


def test_cuda_packages_of_another_version_are_a_problem():
    unmet = ("nvidia-cudnn-cu12<10.0,>=9.3.0.75 (9.1.0.70 is installed)",)
    wheels = Requirements("tensorflow", version="2.21.0", met=11, unmet=unmet)
    results = judged("cuda_libraries", gpu_machine(cuda_wheels=wheels))

    assert [result.status for result in results] == ["ok", "problem"]
    assert unmet[0] in results[1].found


def test_cuda_that_does_not_come_as_packages_is_no_problem():
    wheels = Requirements("tensorflow", version="2.21.0", met=0, unmet=("nvidia-cudnn-cu12>=9.3 (not installed)",))

    assert [result.status for result in judged("cuda_libraries", gpu_machine(cuda_wheels=wheels))] == ["ok"]


def test_a_function_compiled_on_the_gpu_proves_the_compiler():
    facts = gpu_machine(cuda_files=CudaFiles(ptxas="/p/bin/ptxas", libdevice="/p/libdevice.10.bc"))
    result = only("gpu_compiler", facts)

    assert result.status == "ok"
    assert result.found == "XLA compiled for the GPU (ptxas at /p/bin/ptxas, libdevice at /p/libdevice.10.bc)"


@pytest.mark.parametrize("word", ["libdevice not found", "Couldn't invoke ptxas"])
def test_a_compiler_that_lacks_a_part_is_a_problem(word):
    facts = gpu_machine(tensorflow=answer(device=ON_GPU, xla={"error": f"InternalError: {word}"}))

    assert only("gpu_compiler", facts).status == "problem"


def test_a_compiler_that_was_not_tried_is_unknown_whatever_files_there_are():
    missing = only("gpu_compiler", blind())
    present = only("gpu_compiler", blind(cuda_files=CudaFiles(ptxas="/p/ptxas", libdevice="/p/l.bc")))

    assert (missing.status, present.status) == ("unknown", "unknown")
    assert "ptxas and libdevice found neither" in missing.found
    assert present.do is None


@pytest.mark.parametrize(
    ("built", "capability", "fit"),
    [
        (["sm_80", "compute_90"], "8.0", "binary"),
        (["sm_80", "compute_90"], "8.9", "binary"),
        (["sm_89", "compute_90"], "8.6", "none"),
        (["sm_60", "sm_70", "sm_80", "sm_89", "compute_90"], "9.0", "ptx"),
        (["sm_60", "sm_70", "sm_80", "sm_89", "compute_90"], "12.0", "ptx"),
        (["sm_60", "compute_70"], "5.2", "none"),
        (["sm_90a"], "9.0", "binary"),
        (["compute_90a"], "12.0", "none"),
        (["compute_100f"], "10.3", "ptx"),
        (["compute_100f"], "12.0", "none"),
        (["sm_120"], "12.0", "binary"),
        (["gfx90a"], "9.0", None),
        (["sm_80"], "unknown", None),
    ],
)
def test_code_fits_a_gpu_by_cuda_s_rules(built, capability, fit):
    assert fit_of(built, capability) == fit


def test_a_gpu_newer_than_the_build_is_a_note_that_names_both():
    result = only("compute_capability", gpu_machine())

    assert result.status == "note"
    assert "compute capability 9.0; TensorFlow is built for sm_60, sm_70, sm_80, sm_89, compute_90" in result.found


def test_a_cache_that_is_switched_off_is_to_be_switched_on_for_a_gpu_newer_than_the_build():
    facts = gpu_machine(host={"variables": {"CUDA_CACHE_DISABLE": "1"}})

    assert only("compute_capability", facts).do.startswith("Unset CUDA_CACHE_DISABLE=1")


def test_a_gpu_that_the_build_has_code_for_is_ok():
    device = {"device_details": {"compute_capability": "8.0"}}

    assert only("compute_capability", gpu_machine(device=device)).status == "ok"


def test_a_gpu_that_the_build_cannot_run_on_is_a_problem():
    device = {"device_details": {"compute_capability": "5.2"}}

    assert only("compute_capability", gpu_machine(device=device)).status == "problem"


def test_a_whole_gpu_is_ok():
    assert only("mig", gpu_machine()).found == "MIG mode is off: the GPU is whole"


def test_an_instance_is_a_note_with_its_profile():
    instance = H100 | {"mig": True, "mig_profile": "1g.10gb", "mig_gpu_uuid": "GPU-a"}
    result = only("mig", gpu_machine(host={"gpus": [instance]}))

    assert (result.status, result.do) == ("note", None)
    assert "(1g.10gb)" in result.found


def test_of_several_instances_one_is_to_be_named():
    instance = H100 | {"mig": True, "mig_profile": "1g.10gb", "mig_gpu_uuid": "GPU-a"}

    assert "CUDA_VISIBLE_DEVICES" in only("mig", gpu_machine(host={"gpus": [instance, instance]})).do


def test_tf32_is_a_note():
    result = only("tf32", gpu_machine())

    assert (result.status, result.do) == ("note", "Set NVIDIA_TF32_OVERRIDE=0 to measure true float32")


@pytest.mark.parametrize(
    "facts",
    [
        gpu_machine(host={"variables": {"NVIDIA_TF32_OVERRIDE": "0"}}),
        gpu_machine(device={"tf32": False}),
        gpu_machine(device={"device_details": {"compute_capability": "7.5"}}),
    ],
    ids=["overridden", "switched off", "not in the GPU"],
)
def test_float32_that_is_float32_is_ok(facts):
    assert only("tf32", facts).status == "ok"
