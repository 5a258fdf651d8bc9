"""What is gathered from the machine: files, packages, environments; each from a made-up place."""

import os
import shlex
import sys
from pathlib import Path

import pytest

from mlflow_tfexec.diagnosis._cuda_files import find_cuda_files
from mlflow_tfexec.diagnosis._facts import EnvironmentManager, Requirements
from mlflow_tfexec.diagnosis._gather import describe_spool
from mlflow_tfexec.diagnosis._log import fatal_message, missing_libraries, onednn_is_on, unused_instructions
from mlflow_tfexec.diagnosis._project import describe_project
from mlflow_tfexec.diagnosis._requirements import requirements_of

pytestmark = pytest.mark.skipif(os.name != "posix", reason="made-up programs are shell scripts")

LOG = """WARNING: All log messages before absl::InitializeLog() is called are written to STDERR
I0000 00:00:1796057838.395338   22168 port.cc:153] oneDNN custom operations are on. You may see slightly different
To enable the following instructions: AVX2 AVX512F FMA, in other operations, rebuild TensorFlow with the appropriate
I0000 00:00:1796057842.389966   22168 dso_loader.cc:144] Could not load dynamic library 'libcuda.so.1'; dlerror: no
I0000 00:00:1796057842.389966   22168 dso_loader.cc:144] Could not load dynamic library 'libcuda.so.1'; dlerror: no
I0000 00:00:1796057842.389966   22168 dso_loader.cc:144] Could not load dynamic library 'libnvinfer.so.8'; dlerror: no
F0000 00:00:1796057848.117234   22270 parse_flags_from_env.cc:234] Unknown flag in XLA_FLAGS: --xla_nonsense=1
"""


def test_a_log_gives_away_what_tensorflow_says_nowhere_else():
    assert fatal_message(LOG) == "Unknown flag in XLA_FLAGS: --xla_nonsense=1"
    assert missing_libraries(LOG) == ("libcuda.so.1",)
    assert onednn_is_on(LOG)
    assert unused_instructions(LOG) == ("AVX2", "AVX512F", "FMA")


def test_an_empty_log_gives_nothing_away():
    assert fatal_message("") is None
    assert missing_libraries("") == ()
    assert not onednn_is_on("")
    assert unused_instructions("") == ()


def test_an_older_tensorflow_s_fatal_line_is_read_as_well():
    line = "2024-07-23 00:23:46.566744: F external/xla/parse_flags_from_env.cc:226] Unknown flags in XLA_FLAGS: --x\n"

    assert fatal_message(line) == "Unknown flags in XLA_FLAGS: --x"


def test_credentials_in_a_fatal_line_are_not_kept():
    line = "F0000 00:00:1 2 a.cc:1] Unknown flag in XLA_FLAGS: --x=https://me:hunter2@host/\n"

    assert "hunter2" not in fatal_message(line)


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return str(path)


def test_compiler_files_are_looked_for_where_xla_does_the_flag_first(tmp_path):
    packages, toolkit, flagged = tmp_path / "packages", tmp_path / "cuda", tmp_path / "flagged"
    assert find_cuda_files({"PATH": ""}, packages, toolkit).ptxas is None

    in_toolkit = touch(toolkit / "bin/ptxas")
    libdevice = touch(toolkit / "nvvm/libdevice/libdevice.10.bc")
    assert find_cuda_files({}, packages, toolkit).ptxas == in_toolkit

    in_packages = touch(packages / "nvidia/cuda_nvcc/bin/ptxas")
    assert find_cuda_files({}, packages, toolkit).ptxas == in_packages

    in_flag = touch(flagged / "bin/ptxas")
    found = find_cuda_files({"XLA_FLAGS": f"--xla_gpu_cuda_data_dir={flagged} --x"}, packages, toolkit)
    assert (found.ptxas, found.libdevice) == (in_flag, libdevice)


def distribution(folder, name, version, *requires):
    """Make an installed distribution."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {name}",
        f"Version: {version}",
        *(f"Requires-Dist: {r}" for r in requires),
    ]
    (info / "METADATA").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Make an environment of four made-up distributions, importable beside the real ones."""
    distribution(
        tmp_path, "made-up-app", "1.0", "made-up-old>=2", "made-up-new<3,>=1", "made-up-absent",
        "made-up-off; os_name == 'x'",
        'made-up-old<9; extra == "more"', 'made-up-none>1; extra == "more"', 'made-up-new; extra == "other"',
    )  # fmt: skip
    distribution(tmp_path, "made-up-old", "1.5")
    distribution(tmp_path, "made-up-new", "2.0rc1")
    monkeypatch.syspath_prepend(tmp_path)


def test_requirements_are_met_by_version_and_marker(installed):
    found = requirements_of("made-up-app")

    assert (found.version, found.met) == ("1.0", 1)
    assert found.unmet == ("made-up-old>=2 (1.5 is installed)", "made-up-absent (not installed)")


def test_an_extra_s_requirements_are_those_that_it_adds(installed):
    found = requirements_of("made-up-app", extra="more")

    assert (found.met, found.unmet) == (1, ("made-up-none>1 (not installed)",))


def test_a_distribution_that_is_not_installed_asks_for_nothing_that_is_known():
    assert requirements_of("made-up-nowhere") == Requirements("made-up-nowhere")


def test_a_spool_that_is_not_there_yet_is_judged_by_the_folder_above(tmp_path):
    spool = describe_spool(tmp_path / "a" / "b")

    assert spool.problem is None
    assert spool.free_mb > 0
    assert not (tmp_path / "a").exists()


def test_a_spool_below_a_file_cannot_be_written_to(tmp_path):
    (tmp_path / "file").touch()

    assert describe_spool(tmp_path / "file" / "spool").problem == f"{tmp_path / 'file'} is no directory"


def test_a_spool_on_a_file_system_that_takes_nothing_cannot_be_written_to(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "access", lambda path, mode: False)

    assert describe_spool(tmp_path).problem == f"{tmp_path} may not be written to"


@pytest.fixture
def machine(tmp_path):
    """Give a function that makes a machine of the given programs, and a project, and describes it."""

    def describe(*, packages=None, python=sys.prefix, own_mlflow=True, monkeypatch, environ=None, **programs):
        binaries, own, project = tmp_path / "bin", tmp_path / "own", tmp_path / "project"
        for folder in (binaries, own, project):
            folder.mkdir()
        (project / "MLproject").write_text("name: mlflow-tfexec\n", encoding="utf-8")
        (project / "conda.yaml").write_text("dependencies:\n  - python=3.11\n  - pip\n", encoding="utf-8")
        scripts = {binaries / name: text for name, text in programs.items()}
        scripts[binaries / "bash"] = "exit 0"
        if python is not None:
            scripts[binaries / "python"] = f"echo {shlex.quote(python)}"
        scripts[own / "python"] = f"echo {shlex.quote(sys.prefix)}"
        if own_mlflow:
            scripts[own / "mlflow"] = "exit 0"
        for path, text in scripts.items():
            path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
            path.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(own / "python"))
        environ = {"PATH": str(binaries)} | (environ or {})
        return describe_project(environ, packages or Requirements("x", version="1", met=3), [tmp_path, project])

    return describe


def manager(project, name):
    (found,) = [one for one in project.managers if one.name == name]
    return found


def test_a_folder_that_is_not_this_project_is_passed_over(tmp_path):
    (tmp_path / "MLproject").write_text("name: another\n", encoding="utf-8")

    assert describe_project({}, Requirements("x"), [tmp_path, tmp_path / "nowhere"]).directory is None


def test_an_environment_that_is_not_in_path_is_put_there(machine, monkeypatch, tmp_path):
    project = machine(monkeypatch=monkeypatch, python="/usr")

    assert project.path_entry == str(tmp_path / "own")
    assert manager(project, "local") == EnvironmentManager("local", found="this environment has all 3 packages")


def test_an_environment_that_is_first_in_path_stays_as_it_is(machine, monkeypatch, tmp_path):
    path = os.pathsep.join(map(str, (tmp_path / "own", tmp_path / "bin")))
    project = machine(monkeypatch=monkeypatch, environ={"PATH": path})

    assert project.path_entry is None
    assert manager(project, "local").problem is None


def test_a_local_environment_that_lacks_a_package_does_not_work(machine, monkeypatch):
    packages = Requirements("x", version="1", met=2, unmet=("mlflow>=3.1 (not installed)",))

    assert manager(machine(monkeypatch=monkeypatch, packages=packages), "local").problem == (
        "lacks mlflow>=3.1 (not installed)"
    )


def test_without_the_mlflow_command_nothing_works(machine, monkeypatch):
    project = machine(monkeypatch=monkeypatch, own_mlflow=False, uv="echo uv 1")

    assert {one.problem for one in project.managers} == {"the command mlflow is not there"}


def test_a_strange_mlflow_with_a_strange_python_is_no_local_environment(machine, monkeypatch):
    project = machine(
        monkeypatch=monkeypatch, own_mlflow=False, python="/usr", mlflow="exit 0", conda="echo conda 24.1"
    )

    assert manager(project, "local").problem == "`python` in PATH is another environment's, /usr"
    assert manager(project, "conda") == EnvironmentManager("conda", found="conda 24.1")


def test_without_a_python_local_does_not_work(machine, monkeypatch):
    project = machine(monkeypatch=monkeypatch, own_mlflow=False, python=None, mlflow="exit 0")

    assert manager(project, "local").problem == "no `python` in PATH that can import mlflow_tfexec"


def test_managers_that_are_not_there_are_not_found(machine, monkeypatch):
    project = machine(monkeypatch=monkeypatch)

    assert [one.problem for one in project.managers[1:]] == ["conda not found", "uv not found", "pyenv not found"]


def test_uv_without_the_project_s_python_would_download_it(machine, monkeypatch):
    project = machine(
        monkeypatch=monkeypatch, uv='[ "$1" = --version ] && echo "uv 0.9.1 (abc 2026)" && exit 0; exit 2'
    )

    assert manager(project, "uv").problem == "uv 0.9.1 finds no Python 3.11 here and would download one"


def test_uv_with_the_project_s_python_works(machine, monkeypatch):
    script = (
        '[ "$1" = --version ] && echo "uv 0.9.1 (abc)" && exit 0; [ "$*" = "python find 3.11" ] && echo /bin/python'
    )

    assert manager(machine(monkeypatch=monkeypatch, uv=script), "uv").found == "uv 0.9.1, Python 3.11"


def test_pyenv_serves_virtualenv(machine, monkeypatch):
    assert manager(machine(monkeypatch=monkeypatch, pyenv="echo pyenv 2.6"), "virtualenv").found == "pyenv 2.6"


def test_conda_is_the_one_that_mlflow_would_take(machine, monkeypatch, tmp_path):
    home = tmp_path / "conda" / "bin"
    home.mkdir(parents=True)
    (home / "conda").write_text("#!/bin/sh\necho conda 25.0\n", encoding="utf-8")
    (home / "conda").chmod(0o755)
    environ = {"MLFLOW_CONDA_HOME": str(home.parent), "CONDA_EXE": "/nowhere/conda"}

    assert (
        manager(machine(monkeypatch=monkeypatch, environ=environ, conda="echo conda 1"), "conda").found == "conda 25.0"
    )


def test_a_conda_that_fails_is_none(machine, monkeypatch):
    assert manager(machine(monkeypatch=monkeypatch, conda="exit 1"), "conda").problem == "conda not found"


def test_this_repository_is_found_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    root = Path(__file__).parents[3]

    found = describe_project({"PATH": ""}, Requirements("x"), [tmp_path, root])

    assert (found.directory, found.is_here) == (str(root), False)
