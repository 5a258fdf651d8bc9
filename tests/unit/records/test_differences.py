"""What tells two benchmarks apart."""

from recordings import make_recording

from mlflow_tfexec.records.differences import differences
from mlflow_tfexec.records.origin import ModelOrigin

MACHINE = {
    "tensorflow": {"version": "2.19.0", "device": "GPU:0", "cuda_version": "12.5.1"},
    "gpu": {"name": "Example GPU 80GB", "uuid": "GPU-1"},
    "gpu_driver": {"version": "550.54.15"},
    "cpu": {"name": "Example CPU 9000", "usable_cores": 8},
    "packages": {"numpy": "2.1.3", "mlflow": "3.4.0", "tensorflow": "2.19.0"},
    "variables": {"TF_XLA_FLAGS": "--tf_xla_auto_jit=2"},
    "fingerprint": "e06e4a5a5cc5bb9a",
}


def header(environment=MACHINE, **spec):
    return make_recording(environment=environment, launches=1, rounds=1, **spec).header


def found(*headers):
    return [(difference.kind, difference.label, difference.values) for difference in differences(headers)]


def test_like_benchmarks_do_not_differ_whatever_their_seed_and_preset():
    assert found(header(), header(seed=5, preset="rigorous", margin=0.1)) == []


def test_each_fact_is_told_with_its_kind_and_the_values_of_all():
    other = MACHINE | {
        "tensorflow": MACHINE["tensorflow"] | {"version": "2.20.0"},
        "gpu": {"name": "Other GPU", "uuid": "GPU-2"},
        "packages": {"numpy": "2.2.0", "mlflow": "3.9.0", "tensorflow": "2.20.0"},
    }

    assert found(header(), header(other, model="ResNet50"), header()) == [
        ("subject", "model", ("EfficientNetV2S", "ResNet50", "EfficientNetV2S")),
        ("machine", "GPU", ("Example GPU 80GB", "Other GPU", "Example GPU 80GB")),
        ("versions", "TensorFlow", ("2.19.0", "2.20.0", "2.19.0")),
        ("other", "GPU id", ("GPU-1", "GPU-2", "GPU-1")),
        ("other", "numpy", ("2.1.3", "2.2.0", "2.1.3")),
    ]


def test_python_is_compared_by_its_series():
    older, newer, other = (header(MACHINE | {"python": {"version": v}}) for v in ("3.11.2", "3.11.9", "3.12.1"))

    assert found(older, newer) == []
    assert found(older, other) == [("versions", "Python", ("3.11", "3.12"))]


def test_what_one_does_not_have_is_none():
    bare = {key: value for key, value in MACHINE.items() if key not in {"variables", "fingerprint"}}

    assert found(header(), header(bare)) == [
        ("other", "host fingerprint", ("e06e4a5a5cc5bb9a", None)),
        ("other", "$TF_XLA_FLAGS", ("--tf_xla_auto_jit=2", None)),
    ]


def test_a_gpu_that_did_not_do_the_work_is_no_difference():
    on_cpu = {"tensorflow": {"device": "CPU"}, "gpu_driver": {"version": "1"}, "gpus": [{"name": "Idle GPU"}]}

    assert found(header(on_cpu), header(on_cpu | {"gpus": [], "gpu_driver": {"version": "2"}})) == []


def test_facts_of_a_strange_shape_are_not_known():
    strange = {"tensorflow": [], "cpu": {"name": True, "usable_cores": {}}, "packages": 7, "variables": None}

    assert found(header(strange), header({})) == []


def given(**header):
    spec = {"inputs": "a.npz"}
    made = make_recording(rounds=1, calls=1, **spec).header
    return made.model_copy(update=header)


def test_other_values_are_another_subject_only_where_they_were_given():
    made_up = [make_recording(rounds=1, calls=1).header.model_copy(update={"inputs_sha256": h}) for h in ("a", "b")]
    chosen = [given(inputs_sha256=value) for value in ("a", "b")]

    assert differences(made_up) == ()
    assert [(d.kind, d.values) for d in differences(chosen)] == [("subject", ("a", "b"))]


def test_the_same_values_from_another_file_are_the_same_subject():
    renamed = given(inputs_sha256="a")
    renamed = renamed.model_copy(update={"spec": renamed.spec.model_copy(update={"inputs": "b.npz"})})

    assert differences([given(inputs_sha256="a"), renamed]) == ()


def test_a_timed_transfer_is_another_subject():
    headers = [make_recording(rounds=1, calls=1, include_transfer=timed).header for timed in (False, True)]

    assert [(d.kind, d.label) for d in differences(headers)] == [("subject", "transfer from the host")]


def of_mlflow(reference, uri):
    origin = ModelOrigin(uri=uri, flavor="keras")
    return header(model=reference).model_copy(update={"model_origin": origin})


def test_models_in_mlflow_are_compared_by_what_their_references_meant():
    assert found(of_mlflow("models:/net@best", "models:/net/1"), of_mlflow("models:/net/1", "models:/net/1")) == []
    assert found(of_mlflow("models:/net@best", "models:/net/1"), of_mlflow("models:/net@best", "models:/net/2")) == [
        ("subject", "model", ("models:/net/1", "models:/net/2"))
    ]
