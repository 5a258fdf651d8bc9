"""What any process gets from having this package installed: by MLflow's real entry points, in new processes."""

import pytest
from entry_points import plugin_environment
from nvml_simulation import ask_python, no_nvml, nvml_calls, simulated_gpu, simulated_nvml

pytestmark = pytest.mark.mlflow

TAGS = "import mlflow\nfrom mlflow.tracking.context.registry import resolve_tags\nanswer(resolve_tags())"

# What may go wrong, and what of the tags is left then.
VERSIONS = {"tfexec.tf.version", "tfexec.keras.version"}
ABSENT = """
import importlib.metadata
real = importlib.metadata.version
def version(name):
    if name.startswith(("tensorflow", "tf-")):
        raise {error}(name)
    return real(name)
importlib.metadata.version = version
"""
BROKEN_BINDING = """
import importlib.abc
class Broken(importlib.abc.MetaPathFinder):
    def find_spec(self, name, *_):
        if name == "pynvml":
            raise OSError("broken")
sys.meta_path.insert(0, Broken())
"""
RAISING_NVML = """
import pynvml
def fail(*_):
    raise RuntimeError("broken")
pynvml.nvmlInit = fail
"""
HARDSHIPS = {
    "NVML raises what it never should": (RAISING_NVML, VERSIONS),
    "nvidia-ml-py is not installed": (
        "sys.modules['pynvml'] = None\n",
        {*VERSIONS, "tfexec.host.fingerprint", "tfexec.cpu.name"},
    ),
    "nvidia-ml-py cannot be imported": (BROKEN_BINDING, VERSIONS),
    "TensorFlow is not installed": (ABSENT.format(error="importlib.metadata.PackageNotFoundError"), set()),
    "the metadata of TensorFlow is damaged": (ABSENT.format(error="ValueError"), set()),
}


@pytest.fixture
def plugged(tmp_path):
    """Give the variables of a process that has the plugin, where any warning of the user's kind is an error."""
    return {**plugin_environment(tmp_path / "plugged"), "PYTHONWARNINGS": "error::UserWarning"}


@pytest.fixture
def one_gpu(tmp_path):
    return simulated_nvml(tmp_path, [simulated_gpu(0)])


def ours(tags):
    return {name: value for name, value in tags.items() if name.startswith("tfexec.")}


def test_import_mlflow_registers_the_provider_without_a_warning_and_loads_nothing_heavy_of_ours(plugged):
    found = ask_python(
        "import mlflow\n"
        "from mlflow.tracking.context.registry import _run_context_provider_registry as registry\n"
        "heavy = ('tensorflow', 'keras', 'typer')\n"
        "answer([[type(one).__name__ for one in registry], [n for n in heavy if n in sys.modules],\n"
        "        sorted(n for n in sys.modules if n.startswith('mlflow_tfexec'))])",
        plugged,
    )
    assert found[0].count("EnvironmentContext") == 1
    assert found[1:] == [
        [],
        ["mlflow_tfexec", "mlflow_tfexec._version", "mlflow_tfexec.plugin", "mlflow_tfexec.plugin.run_context"],
    ]


def test_twenty_runs_of_plain_mlflow_code_carry_the_tags_and_ask_nvml_once(plugged, one_gpu, sqlite_store):
    runs, loaded = ask_python(
        "import mlflow\n"
        f"mlflow.set_tracking_uri({sqlite_store!r})\nmlflow.set_experiment('mine')\n"
        "ids = []\n"
        "for _ in range(20):\n"
        "    with mlflow.start_run() as run: ids.append(run.info.run_id)\n"
        "answer([[mlflow.get_run(one).data.tags for one in ids],\n"
        "        [name for name in ('tensorflow', 'keras') if name in sys.modules]])",
        {**plugged, **one_gpu},
    )
    assert loaded == []
    assert len({str(sorted(ours(tags).items())) for tags in runs}) == 1
    assert ours(runs[0]).keys() == {
        *VERSIONS,
        "tfexec.host.fingerprint", "tfexec.cpu.name", "tfexec.gpu.name", "tfexec.gpu.uuid",
        "tfexec.gpu.compute_capability", "tfexec.gpu.memory_mb", "tfexec.gpu.driver", "tfexec.gpu.driver_cuda",
    }  # fmt: skip
    assert runs[0]["tfexec.gpu.name"] == "NVIDIA H100 80GB HBM3"
    assert runs[0]["tfexec.gpu.driver_cuda"] == "12.9"
    assert [call for call in nvml_calls(one_gpu) if "Init" in call] == ["nvmlInit"]


def test_the_tags_are_those_of_a_benchmark_on_this_machine(plugged, one_gpu):
    tags, fingerprint, version = ask_python(
        "from mlflow.tracking.context.registry import resolve_tags\n"
        "from mlflow_tfexec.measurement.environment import describe_host, fingerprint, package_versions\n"
        "answer([resolve_tags(), fingerprint(describe_host()), package_versions()['keras']])",
        {**plugged, **one_gpu},
    )
    assert tags["tfexec.host.fingerprint"] == fingerprint
    assert tags["tfexec.keras.version"] == version


@pytest.mark.parametrize("hardship", HARDSHIPS)
def test_runs_start_and_carry_what_is_known_when(hardship, plugged, one_gpu):
    code, left = HARDSHIPS[hardship]
    tags = ask_python(code + TAGS, {**plugged, **one_gpu})
    assert ours(tags).keys() == left
    assert "mlflow.source.name" in tags


def test_without_a_driver_there_is_no_tag_of_a_gpu(plugged, tmp_path):
    tags = ask_python(TAGS, {**plugged, **no_nvml(tmp_path)})
    assert ours(tags).keys() == {*VERSIONS, "tfexec.host.fingerprint", "tfexec.cpu.name"}


def test_switched_off_there_is_no_tag_and_nvml_is_not_asked(plugged, one_gpu):
    tags = ask_python(TAGS, {**plugged, **one_gpu, "MLFLOW_TFEXEC_CONTEXT": "0"})
    assert ours(tags) == {}
    assert nvml_calls(one_gpu) == []


def test_mlflows_own_tags_are_as_without_the_plugin(plugged, one_gpu, tmp_path):
    bare = plugin_environment(tmp_path / "bare", is_plugged_in=False)
    without, with_plugin = (ask_python(TAGS, {**variables, **one_gpu}) for variables in (bare, plugged))
    assert ours(without) == {}
    assert {name: value for name, value in with_plugin.items() if name not in ours(with_plugin)} == without


def test_runs_of_benchmarks_get_no_tags_of_the_machine_that_logs_them(plugged, one_gpu):
    everybody, benchmarks = ask_python(
        "from mlflow.tracking.context.registry import resolve_tags\n"
        "from mlflow_tfexec.tracking.steps import origin_tags\n"
        "answer([resolve_tags(), origin_tags()])",
        {**plugged, **one_gpu},
    )
    assert ours(everybody)
    assert ours(benchmarks) == {}
    assert "mlflow.source.name" in benchmarks
