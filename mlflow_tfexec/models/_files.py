"""What can be said of a model's file without TensorFlow, and without running anything that it holds."""

import json
import os
import struct
import zipfile
from pathlib import Path, PureWindowsPath
from typing import Any, BinaryIO

from mlflow_tfexec.errors import RequestError
from mlflow_tfexec.units import memory

HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"

_WEIGHTS = ("model.weights.h5", "model.weights.npz", "model.weights.json")
_LARGEST_CONFIG = 64 * 2**20
_MOST_FILES = 10_000

# Keras packs without compression; what expands so much was made to fill a memory or a disk.
_LARGEST_EXPANSION = 100
_SMALLEST_BOMB = 2**30

_SUFFIXES = (".keras", ".h5", ".hdf5", ".pb", ".tflite", ".onnx", ".pt", ".ckpt", ".zip", ".json", ".py")

_SUPERBLOCK_OFFSETS = {0: (8, 40), 1: (8, 44), 2: (8, 28), 3: (8, 28)}


def is_file(path: str) -> bool:
    """Say whether *path* is a file. A name that no system takes is none."""
    return os.path.isfile(path)  # noqa: PTH113 - Path.is_file raises for a name that is too long


def is_directory(path: str) -> bool:
    """Say whether *path* is a directory. A name that no system takes is none."""
    return os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises for a name that is too long


def check_path(reference: str) -> None:
    """Refuse a reference that is, or looks like, a path that no kind of model recognises.

    Raises:
        RequestError: says what is wrong with it.
    """
    if is_directory(reference):
        if is_file(os.path.join(reference, "MLmodel")):  # noqa: PTH118 - a text, as it was given
            raise RequestError(
                f"{reference!r} is the directory of an MLflow model. Name the model that lies in it, such as "
                f"{os.path.join(reference, 'data', 'model.keras')!r}."  # noqa: PTH118 - as above
            )
        raise RequestError(f"Directory {reference!r} holds no SavedModel: it has no saved_model.pb.")
    if is_file(reference):
        raise RequestError(
            f"File {reference!r} is no model that Keras loads. Give a .keras or .h5 file, or a SavedModel directory."
        )
    looks_like_a_path = "/" in reference or os.sep in reference or reference.lower().endswith(_SUFFIXES)
    if looks_like_a_path and "://" not in reference:
        raise RequestError(f"No file or directory {reference!r}. Give the path of an existing model.")


def check_archive(path: str) -> None:
    """Make sure that a `.keras` file is whole, is Keras's, and unpacks to what it says.

    Raises:
        RequestError: it is not, in one line.
    """
    with _opened(path) as stream:
        if stream.read(len(HDF5_MAGIC)) == HDF5_MAGIC:
            raise RequestError(f"File {path!r} is an HDF5 file in spite of its name. Rename it to end in .h5.")
        try:
            with zipfile.ZipFile(stream) as archive:
                _check_entries(path, archive)
                _check_config(path, archive)
        # zipfile raises many kinds of error for what a broken or a hostile file says.
        except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, OSError, RuntimeError, struct.error):
            raise RequestError(
                f"File {path!r} is no .keras file, or not a whole one. Save the model again, or copy it anew."
            ) from None


def _check_entries(path: str, archive: zipfile.ZipFile) -> None:
    entries = archive.infolist()
    if len(entries) > _MOST_FILES:
        raise RequestError(f"File {path!r} holds {len(entries)} files, which no model does. It was not opened.")
    for entry in entries:
        # Windows paths take both kinds of slashes, so that this reads those of every system.
        parts = PureWindowsPath(entry.filename)
        if parts.anchor or ".." in parts.parts:
            raise RequestError(f"File {path!r} holds {entry.filename[:80]!r}, a path that leads out of it.")
    unpacked, packed = sum(entry.file_size for entry in entries), sum(entry.compress_size for entry in entries)
    if unpacked > _SMALLEST_BOMB and unpacked > packed * _LARGEST_EXPANSION:
        sizes = f"{memory(packed / 2**20)} that unpack to {memory(unpacked / 2**20)}"
        raise RequestError(f"File {path!r} holds {sizes}, which no model's weights do. It was not opened.")


def _check_config(path: str, archive: zipfile.ZipFile) -> None:
    names = set(archive.namelist())
    if "config.json" not in names:
        raise RequestError(f"File {path!r} is a zip file without config.json: it was not saved by Keras 3.")
    if not names & set(_WEIGHTS):
        raise RequestError(f"File {path!r} holds no weights. Save the model again with model.save.")
    if archive.getinfo("config.json").file_size > _LARGEST_CONFIG:
        raise RequestError(f"File {path!r} has a config.json larger than any model's. It was not opened.")
    try:
        config: Any = json.loads(archive.read("config.json"))
    except (ValueError, RecursionError):
        config = None
    if not isinstance(config, dict) or "class_name" not in config:
        raise RequestError(f"File {path!r} has a config.json that describes no Keras model.")


def check_hdf5(path: str) -> None:
    """Make sure that a file is HDF5 and whole, by its first bytes.

    Raises:
        RequestError: it is not, in one line.
    """
    with _opened(path) as stream:
        head = stream.read(64)
        size = stream.seek(0, os.SEEK_END)
    if not head.startswith(HDF5_MAGIC):
        raise RequestError(f"File {path!r} is no HDF5 file, which legacy Keras models are. Save the model as .keras.")
    end = _end_of_hdf5(head)
    if end is not None and end > size:
        raise RequestError(f"File {path!r} is cut short: it has {size} of {end} bytes. Copy it anew.")


def _end_of_hdf5(head: bytes) -> int | None:
    """Read where the file says that it ends. None: it is of a kind that is not read here.

    Source: HDF5 File Format Specification 3.0, "Disk Format: Level 0A", with offsets of 8 bytes.
    """
    if len(head) < 64:  # noqa: PLR2004 - what was asked for; no HDF5 file is as short
        return 64
    version = head[8]
    if version not in _SUPERBLOCK_OFFSETS:
        return None
    width, place = _SUPERBLOCK_OFFSETS[version]
    if head[13 if version < 2 else 9] != width:  # noqa: PLR2004 - where the two layouts keep the size of offsets
        return None
    end: int = struct.unpack_from("<Q", head, place)[0]
    return end


def _opened(path: str) -> BinaryIO:
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise RequestError(f"Cannot read {path!r}: {error.strerror}.") from None
