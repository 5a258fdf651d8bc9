import pytest

from mlflow_tfexec.measurement.cgroup import CgroupLimits, oom_kills, read_limits, throttled_periods


@pytest.fixture
def root(tmp_path):
    """A file system whose files are given as {path: text}."""

    def write(files):
        for path, text in files.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return tmp_path

    return write


V2 = {"proc/self/cgroup": "0::/user.slice/job\n", "sys/fs/cgroup/cgroup.controllers": "cpu memory\n"}
V1 = {"proc/self/cgroup": "9:name=systemd:/job\n4:memory:/job\n2:cpu,cpuacct:/job\n0::/\n"}
OWN = "sys/fs/cgroup/user.slice/job"


def test_machine_without_control_groups_has_no_limits(tmp_path):
    assert read_limits(tmp_path) == CgroupLimits(cpu_quota=None, memory_limit_mb=None)
    assert throttled_periods(tmp_path) is None
    assert oom_kills(tmp_path) is None


def test_version_2_limits_are_read(root):
    files = {f"{OWN}/cpu.max": "150000 100000\n", f"{OWN}/memory.max": "2147483648\n"}

    assert read_limits(root(V2 | files)) == CgroupLimits(cpu_quota=1.5, memory_limit_mb=2048)


def test_version_2_max_is_no_limit(root):
    files = {f"{OWN}/cpu.max": "max 100000\n", f"{OWN}/memory.max": "max\n"}

    assert read_limits(root(V2 | files)) == CgroupLimits(cpu_quota=None, memory_limit_mb=None)


def test_tightest_limit_of_all_levels_holds(root):
    files = {
        f"{OWN}/cpu.max": "400000 100000\n",
        f"{OWN}/memory.max": "max\n",
        "sys/fs/cgroup/user.slice/cpu.max": "200000 100000\n",
        "sys/fs/cgroup/user.slice/memory.max": "1073741824\n",
    }

    assert read_limits(root(V2 | files)) == CgroupLimits(cpu_quota=2.0, memory_limit_mb=1024)


def test_version_1_limits_are_read(root):
    files = {
        "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "50000\n",
        "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "100000\n",
        "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "536870912\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    }

    assert read_limits(root(V1 | files)) == CgroupLimits(cpu_quota=0.5, memory_limit_mb=512)


def test_version_1_without_limits_has_none(root):
    files = {
        "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "-1\n",
        "sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000\n",
        "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "9223372036854771712\n",
    }

    assert read_limits(root(V1 | files)) == CgroupLimits(cpu_quota=None, memory_limit_mb=None)


def test_container_that_sees_its_outer_path_reads_the_mount_itself(root):
    """Docker on version 1 shows the host's path in /proc, and mounts the group where the host has the root."""
    files = {
        "proc/self/cgroup": "4:memory:/docker/0123abcd\n2:cpu:/docker/0123abcd\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "536870912\n",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000\n",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    }

    assert read_limits(root(files)) == CgroupLimits(cpu_quota=2.0, memory_limit_mb=512)


def test_path_above_the_mount_reads_the_mount_itself(root):
    files = {
        "proc/self/cgroup": "0::/../outside\n",
        "sys/fs/cgroup/cgroup.controllers": "memory\n",
        "sys/fs/cgroup/memory.max": "536870912\n",
        "sys/fs/outside/memory.max": "1048576\n",
    }

    assert read_limits(root(files)).memory_limit_mb == 512


def test_mixed_system_uses_version_2_where_version_1_lacks_the_controller(root):
    files = {
        "proc/self/cgroup": "1:name=systemd:/job\n0::/job\n",
        "sys/fs/cgroup/unified/job/memory.max": "536870912\n",
    }

    assert read_limits(root(files)).memory_limit_mb == 512


@pytest.mark.parametrize("text", ["", "\n", "garbage", "1", "1 2 3", "-5 100000", "100000 0"])
def test_cpu_quota_that_no_kernel_writes_is_no_quota(root, text):
    assert read_limits(root(V2 | {f"{OWN}/cpu.max": text})).cpu_quota is None


def test_throttled_periods_add_up_over_levels(root):
    files = {
        f"{OWN}/cpu.stat": "usage_usec 9\nnr_periods 40\nnr_throttled 7\nthrottled_usec 100\n",
        "sys/fs/cgroup/user.slice/cpu.stat": "nr_periods 40\nnr_throttled 3\n",
        "sys/fs/cgroup/cpu.stat": "usage_usec 9\n",
    }

    assert throttled_periods(root(V2 | files)) == 10


def test_oom_kills_of_version_2_are_counted(root):
    files = {f"{OWN}/memory.events": "low 0\nhigh 5\nmax 9\noom 4\noom_kill 3\noom_group_kill 0\n"}

    assert oom_kills(root(V2 | files)) == 3


def test_oom_kills_of_another_group_do_not_count(root):
    files = {f"{OWN}/memory.events": "oom_kill 0\n", "sys/fs/cgroup/user.slice/memory.events": "oom_kill 8\n"}

    assert oom_kills(root(V2 | files)) == 0


def test_oom_kills_of_version_1_are_counted(root):
    files = {"sys/fs/cgroup/memory/job/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"}

    assert oom_kills(root(V1 | files)) == 2


def test_old_kernel_without_an_oom_counter_is_not_known(root):
    files = {"sys/fs/cgroup/memory/job/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\n"}

    assert oom_kills(root(V1 | files)) is None
