import os
import sys

import psutil
import pytest

from mlflow_tfexec.measurement import host
from mlflow_tfexec.measurement.host import Container

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's /proc and /sys")


@pytest.fixture
def root(tmp_path):
    def write(files):
        for path, text in files.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return tmp_path

    return write


@linux
def test_cpu_name_is_the_makers(root):
    text = "processor\t: 0\nmodel name\t: AMD EPYC 9654 96-Core Processor\n\nprocessor\t: 1\nmodel name\t: other\n"

    assert host.cpu_name(root({"proc/cpuinfo": text})) == "AMD EPYC 9654 96-Core Processor"


@linux
def test_arm_core_is_named_by_its_numbers(root, monkeypatch):
    monkeypatch.setattr(host.platform, "machine", lambda: "aarch64")
    text = "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd4f\n"

    assert host.cpu_name(root({"proc/cpuinfo": text})) == "aarch64 implementer 0x41 part 0xd4f"


@linux
@pytest.mark.parametrize("files", [{}, {"proc/cpuinfo": ""}, {"proc/cpuinfo": "processor\t: 0\nmodel name\t:\n"}])
def test_cpu_without_a_name_has_none(root, files):
    assert host.cpu_name(root(files)) is None


def test_governor_is_read_or_absent(root, tmp_path):
    assert host.governor(tmp_path) is None
    files = {"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n"}
    assert host.governor(root(files)) == "performance"


@linux
def test_usable_cores_follow_the_affinity():
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert host.usable_cores() == 1
    finally:
        os.sched_setaffinity(0, allowed)
    assert host.usable_cores() == len(allowed)


def test_usable_cores_are_unknown_where_the_system_will_not_tell(monkeypatch):
    if sys.platform == "darwin":
        pytest.skip("macOS has no affinity")

    def refuse(self):
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil.Process, "cpu_affinity", refuse)

    assert host.usable_cores() is None


@linux
@pytest.mark.parametrize(
    ("files", "environ", "expected"),
    [
        ({}, {}, Container(inside=False, evidence=None)),
        ({".dockerenv": ""}, {}, Container(inside=True, evidence="/.dockerenv")),
        ({"run/.containerenv": ""}, {}, Container(inside=True, evidence="/run/.containerenv")),
        ({}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, Container(inside=True, evidence="KUBERNETES_SERVICE_HOST")),
        ({}, {"KUBERNETES_SERVICE_HOST": ""}, Container(inside=False, evidence=None)),
        (
            {"proc/self/cgroup": "4:memory:/kubepods/burstable/pod1\n"},
            {},
            Container(inside=True, evidence="control group kubepods"),
        ),
        ({"proc/self/cgroup": "0::/user.slice\n"}, {}, Container(inside=False, evidence=None)),
    ],
)
def test_container_is_known_by_what_it_leaves(root, files, environ, expected):
    assert host.container(environ, root(files)) == expected


def test_container_is_not_judged_outside_linux(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "darwin")

    assert host.container({}, tmp_path) is None


def test_system_and_python_are_those_of_this_process():
    assert host.python()["version"].startswith(f"{sys.version_info.major}.{sys.version_info.minor}.")
    assert host.operating_system()["machine"]
    assert host.logical_cores() >= 1
    assert host.memory_total_mb() == psutil.virtual_memory().total // 2**20


@linux
@pytest.mark.parametrize(("target", "first"), [("pid:[4026531836]", True), ("pid:[4026532345]", False), (None, False)])
def test_pid_namespace_is_told_apart(tmp_path, target, first):
    if target:
        link = tmp_path / "proc/self/ns/pid"
        link.parent.mkdir(parents=True)
        link.symlink_to(target)

    assert host.in_first_pid_namespace(tmp_path) is first
