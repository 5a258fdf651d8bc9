import json
import os
import subprocess
import sys
import time

import pytest

from mlflow_tfexec import ownership

HOLD = """
import sys
from pathlib import Path
from mlflow_tfexec import ownership
print(ownership.claim(Path(sys.argv[1])), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path):
    """Another process that owns the directory until its stdin closes."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline().strip() == "True"
    yield process
    process.kill()
    process.wait()


def note(directory, **changes):
    path = directory / "owner.json"
    owner = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps(owner))
    return path


def test_what_another_living_process_owns_is_not_to_be_had(tmp_path, other):
    assert not ownership.claim(tmp_path)


def test_what_a_dead_process_owned_is_free(tmp_path, other):
    other.kill()
    other.wait()

    assert ownership.claim(tmp_path)
    assert json.loads((tmp_path / "owner.json").read_text())["pid"] == os.getpid()


def test_a_later_process_with_the_same_id_is_another(tmp_path, other):
    note(tmp_path, began=1.0)

    assert ownership.claim(tmp_path)


def test_one_process_may_claim_twice(tmp_path):
    assert ownership.claim(tmp_path)
    assert ownership.claim(tmp_path)


def test_release_frees_only_what_is_ours(tmp_path, other):
    ownership.release(tmp_path)

    assert (tmp_path / "owner.json").exists()


def test_release_lets_others_in(tmp_path):
    ownership.claim(tmp_path)
    ownership.release(tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_an_owner_on_another_machine_counts_as_alive_while_it_writes(tmp_path):
    ownership.claim(tmp_path)
    note(tmp_path, host="elsewhere")

    assert not ownership.claim(tmp_path)


def test_an_owner_on_another_machine_that_has_fallen_silent_is_gone(tmp_path):
    ownership.claim(tmp_path)
    path = note(tmp_path, host="elsewhere")
    long_ago_s = time.time() - 3 * 3600
    os.utime(path, (long_ago_s, long_ago_s))

    assert ownership.claim(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"host": null}'])
def test_a_damaged_note_locks_nobody_out_for_long(tmp_path, text):
    path = tmp_path / "owner.json"
    path.write_text(text)
    long_ago_s = time.time() - 3 * 3600
    os.utime(path, (long_ago_s, long_ago_s))

    assert ownership.claim(tmp_path)


def test_a_directory_that_cannot_be_written_to_says_so(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        ownership.claim(tmp_path / "missing")


def test_what_nobody_or_this_process_or_one_that_lives_owns_is_not_abandoned(tmp_path):
    assert not ownership.is_abandoned(tmp_path)

    ownership.claim(tmp_path)

    assert not ownership.is_abandoned(tmp_path)


def test_what_another_process_owns_is_abandoned_once_that_has_ended(tmp_path, other):
    assert not ownership.is_abandoned(tmp_path)

    other.kill()
    other.wait()

    assert ownership.is_abandoned(tmp_path)
