"""The files that bad requests name."""

import contextlib
import io
import json
import struct
import zipfile
from pathlib import Path

import numpy as np


def make_files(directory: Path) -> None:
    """Write the files that the requests name: empty, cut short, foreign and hostile ones."""
    _write_models(directory)
    _write_inputs(directory)


def _write_models(directory: Path) -> None:
    for name in ("empty.keras", "empty.h5", "empty.npz", "empty.json", "empty.parquet", "empty.npy"):
        (directory / name).touch()
    whole = _archive({"config.json": json.dumps({"class_name": "Sequential"}), "model.weights.h5": "x" * 1000})
    (directory / "cut.keras").write_bytes(whole[:500])
    (directory / "text.keras").write_text("this is no archive")
    (directory / "foreign.keras").write_bytes(_archive({"word/document.xml": "<w/>"}))
    (directory / "no_weights.keras").write_bytes(_archive({"config.json": "{}"}))
    (directory / "leads_out.keras").write_bytes(_archive({"../../etc/passwd": "x", "config.json": "{}"}))
    (directory / "deep.keras").write_bytes(_archive({"config.json": "[" * 100_000, "model.weights.h5": "x"}))
    (directory / "a_list.keras").write_bytes(_archive({"config.json": "[]", "model.weights.h5": "x"}))
    (directory / "hdf5.keras").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    (directory / "directory.keras").mkdir()
    # Windows lets not everybody make one; the request is left out there.
    with contextlib.suppress(OSError):
        (directory / "loop.keras").symlink_to("loop.keras")
    (directory / "CAPITALS.KERAS").write_bytes(whole)
    (directory / "text.h5").write_text("this is no HDF5 file")
    superblock = struct.pack("<8sBBBBBBBBHHI4Q", b"\x89HDF\r\n\x1a\n", 0, 0, 0, 0, 0, 8, 8, 0, 4, 16, 0, 0, 0, 9999, 0)
    (directory / "cut.h5").write_bytes(superblock)
    (directory / "only.weights.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    for name in ("model.pkl", "model.tflite", "model.onnx", "frozen.pb", "table.csv", "model.pt"):
        (directory / name).write_bytes(b"\x80\x04\x95")
    (directory / "nothing_saved").mkdir()
    (directory / "empty_program").mkdir()
    (directory / "empty_program" / "saved_model.pb").touch()
    (directory / "garbage_program").mkdir()
    (directory / "garbage_program" / "saved_model.pb").write_bytes(bytes(range(256)) * 10)
    (directory / "of_mlflow").mkdir()
    (directory / "of_mlflow" / "MLmodel").touch()
    (directory / "broken.py").write_text("def model(:\n    pass\n")
    (directory / "zeros.py").write_bytes(b"x = 1\n\x00\n")
    (directory / "latin.py").write_bytes(b"name = '\xe9'\n")
    (directory / "garbage.weights.h5").write_bytes(b"garbage" * 100)
    (directory / "unknown.keras").write_bytes(
        _archive({"config.json": json.dumps({"class_name": "Mine", "module": "mine"}), "model.weights.h5": "x"})
    )


def _write_inputs(directory: Path) -> None:
    np.savez(directory / "rank.npz", x=np.zeros((1, 2, 3, 4, 5), "float32"))
    np.savez(directory / "names.npz", one=np.zeros((1, 3), "float32"), two=np.zeros((1, 3), "float32"))
    np.savez(directory / "words.npz", left=np.array([["a", "b", "c"]]), right=np.array([["a", "b", "c"]]))
    np.savez(directory / "numbers.npz", x=np.zeros((1, 2), "float32"))
    np.savez(directory / "batches.npz", left=np.zeros((2, 3), "float32"), right=np.zeros((3, 3), "float32"))
    np.savez(directory / "other.npz", x=np.zeros((1, 9), "float32"))
    np.savez(directory / "none.npz", x=np.zeros((0, 3), "float32"))
    np.save(directory / "pickled.npy", np.array([{"a": 1}], dtype=object))
    np.savez(directory / "pickled.npz", x=np.array([{"a": 1}], dtype=object))
    whole = io.BytesIO()
    np.savez(whole, x=np.zeros((1, 3), "float32"))
    (directory / "cut.npz").write_bytes(whole.getvalue()[:200])
    (directory / "text.npz").write_text("this is no archive")
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1000000000000000), }".ljust(117) + "\n"
    (directory / "huge.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    (directory / "broken.json").write_text('{"x": [1, 2')
    (directory / "uneven.json").write_text('{"x": [[1, 2], [3]]}')
    (directory / "mixed.json").write_text('{"x": [[1, "two"]]}')
    (directory / "deep.json").write_text("[" * 100_000)
    (directory / "nan.json").write_text('{"x": [[NaN, 1.0]]}')
    (directory / "text.parquet").write_text("this is no table")
    (directory / "directory.npz").mkdir()


def _archive(entries: dict[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return stream.getvalue()
