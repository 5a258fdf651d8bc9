"""Inputs from files, without TensorFlow: what is read, and what is refused in a line or two."""

import json
import re
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.models._given import check_inputs, file_names, is_function
from mlflow_tfexec.models._given_files import ArrayFacts, describe_file, read_file


def frame(columns):
    import pandas as pd

    return pd.DataFrame(columns)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(reference):
    with pytest.raises(RequestError) as caught:
        check_inputs(reference)
    text = str(caught.value)
    assert 1 <= len(text.splitlines()) <= 2
    assert text.startswith("--inputs")
    return text


def test_named_arrays_of_an_npz_keep_their_names(place):
    np.savez("a.npz", ids=np.arange(6, dtype="int32").reshape(2, 3), scale=np.ones((2, 1), "float32"))

    read = read_file("a.npz")

    assert describe_file("a.npz") == {"ids": ArrayFacts((2, 3), "int32"), "scale": ArrayFacts((2, 1), "float32")}
    assert list(read) == ["ids", "scale"]
    np.testing.assert_array_equal(read["ids"], [[0, 1, 2], [3, 4, 5]])
    assert check_inputs("a.npz") == 2


def test_unnamed_arrays_of_an_npz_are_in_their_places_also_beyond_ten(place):
    np.savez("a.npz", *[np.full((1,), number) for number in range(12)])

    assert [array[0] for array in read_file("a.npz")] == list(range(12))


def test_an_npy_is_one_array(place):
    np.save("a.npy", np.eye(3, dtype="float16"))

    np.testing.assert_array_equal(read_file("a.npy"), np.eye(3))
    assert check_inputs("a.npy") == 3


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"x": [[1, 2], [3, 4]], "t": ["a", "b"]}, {"x": [[1, 2], [3, 4]], "t": [b"a", b"b"]}),
        ([{"x": [1.5], "n": 1}, {"x": [2.5], "n": 2}], {"x": [[1.5], [2.5]], "n": [1, 2]}),
        ([[1, 2], [3, 4]], [[1, 2], [3, 4]]),
    ],
)
def test_json_holds_columns_rows_or_one_array(place, content, expected):
    (place / "a.json").write_text(json.dumps(content))

    read = read_file("a.json")

    as_lists = {name: array.tolist() for name, array in read.items()} if isinstance(read, dict) else read.tolist()
    assert as_lists == expected


def test_columns_of_a_parquet_are_inputs_lists_in_them_are_dimensions(place):
    frame({"n": [1, 2], "x": [[1.0, 2.0], [3.0, 4.0]], "t": ["a", "é"]}).to_parquet("a.parquet")

    read = read_file("a.parquet")

    assert read["n"].tolist() == [1, 2]
    assert read["x"].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert read["t"].tolist() == [b"a", "é".encode()]


def test_text_of_numpy_becomes_bytes(place):
    np.savez("a.npz", u=np.array(["é"]), s=np.array([b"b"]))

    read = read_file("a.npz")

    assert read["u"].tolist() == ["é".encode()]
    assert read["s"].tolist() == [b"b"]


def test_several_files_are_several_sets_unless_one_has_that_name(place):
    for name in ("a.npy", "b.npy", "c,d.npy"):
        np.save(name, np.zeros(2))

    assert file_names("a.npy, b.npy") == ["a.npy", "b.npy"]
    assert file_names("c,d.npy") == ["c,d.npy"]
    assert check_inputs("a.npy,b.npy") == 2


def test_sets_of_other_shapes_are_refused_with_both(place):
    np.save("a.npy", np.zeros((2, 3)))
    np.save("b.npy", np.zeros((4, 3)))

    assert re.search(r"'b.npy' holds \(4, 3\) float64, and 'a.npy' \(2, 3\) float64", refusal("a.npy,b.npy"))


@pytest.mark.parametrize(
    ("reference", "is_one"),
    [("data.py:make", True), ("package.data:make", True), ("a.npz", False), ("C:a.npz", False), ("x.npz:1", False)],
)
def test_a_function_is_told_from_a_file(reference, is_one):
    assert is_function(reference) is is_one


def test_a_function_is_not_run_by_the_parent(place):
    (place / "data.py").write_text("raise SystemExit(3)")

    assert check_inputs("data.py:make") is None


def test_a_function_of_a_file_that_is_not_there_is_refused():
    assert "there is no file 'nowhere.py'" in refusal("nowhere.py:make")


class Hostile:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was run",))


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_pickled_objects_are_refused_and_never_run(place, name):
    objects = np.array([Hostile(), Hostile()], dtype=object)
    (np.save if name.endswith("npy") else np.savez)(name, objects, allow_pickle=True)

    assert "pickled Python objects" in refusal(name)
    with pytest.raises(RequestError):
        read_file(name)


def _truncated_npy(path):
    np.save(path, np.zeros((100, 100)))
    path.write_bytes(path.read_bytes()[:500])


def _truncated_npz(path):
    np.savez(path, x=np.zeros((100, 100)))
    path.write_bytes(path.read_bytes()[:500])


def _huge_npy(path):
    with path.open("wb") as stream:
        header = {"descr": "<f8", "fortran_order": False, "shape": (2**40, 2**10)}
        np.lib.format.write_array_header_1_0(stream, header)


def _bomb(path):
    """Claim an array far larger than the file, as a compressed member may hold it."""
    _huge_npy(path.with_name("huge.npy"))
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(path.with_name("huge.npy"), "x.npy")


@pytest.mark.parametrize(
    ("name", "make", "reason"),
    [
        ("a.npy", _truncated_npy, "cut short"),
        ("a.npz", _truncated_npz, "not a zip file"),
        ("a.npy", _huge_npy, "cut short"),
        ("a.npz", _bomb, "cut short"),
        ("a.npy", lambda path: path.write_bytes(b""), "no array of NumPy"),
        ("a.npz", lambda path: path.write_bytes(b""), "not a zip file"),
        ("a.npy", lambda path: path.write_bytes(b"\x89PNG\r\n"), "no array of NumPy"),
        ("a.npz", np.savez, "holds no array"),
        ("a.npy", lambda path: np.save(path, np.zeros((0, 3))), "is empty"),
        ("a.npy", lambda path: np.save(path, np.array(["2026-01-31"], dtype="datetime64[D]")), "datetime64"),
        ("a.npy", lambda path: np.save(path, np.zeros(1, dtype=[("a", "i4")])), "which is no number"),
        ("a.json", lambda path: path.write_text(""), "not JSON"),
        ("a.json", lambda path: path.write_text("7"), "neither a list nor an object"),
        ("a.json", lambda path: path.write_text("[]"), "is empty"),
        ("a.json", lambda path: path.write_text("{}"), "holds no array"),
        ("a.json", lambda path: path.write_text("[[1,2],[3]]"), "not of one length"),
        ("a.json", lambda path: path.write_text('{"x": [1, "a"]}'), "something else than numbers"),
        ("a.json", lambda path: path.write_text('{"x": [null]}'), "something else than numbers"),
        ("a.json", lambda path: path.write_text('[{"x": 1}, {"y": 2}]'), "the same keys"),
        ("a.json", lambda path: path.write_text("[" * 100_000), "nested too deep|not JSON"),
        ("a.json", lambda path: path.write_bytes(b"\xff\xfe\x00"), "not text"),
        ("a.parquet", lambda path: path.write_bytes(b"PAR1"), "Parquet|parquet"),
        ("a.parquet", lambda path: frame({"x": [1.0, None], "y": ["a", None]}).to_parquet(path), "missing"),
        ("a.txt", lambda path: path.write_text("1"), "ends in none of .npz, .npy, .json, .parquet"),
        ("a.npz", Path.mkdir, "it is no file"),
        ("a.npz", lambda _: None, "there is no such file"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(place, name, make, reason):
    make(place / name)

    text = refusal(name)

    assert re.search(reason, text), text
    assert repr(name) in text


def test_arrays_beyond_the_memory_are_refused_before_they_are_read(place, monkeypatch):
    import psutil

    np.save("a.npy", np.zeros(1000))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=8000))

    assert "this machine has" in refusal("a.npy")
