"""Arrays from files: .npz, .npy, .json, .parquet. Nothing in a file is run: pickled objects are refused.

Sources: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html,
https://numpy.org/doc/stable/reference/generated/numpy.load.html
"""

import json
import math
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

from mlflow_tfexec.errors import RequestError

# A text takes many times its size once it is read; larger data has better forms.
_MOST_JSON_BYTES = 256 * 2**20
_MOST_SHARE_OF_MEMORY = 0.5

_MOST_TEXT = 300

_NPY_VERSIONS = ((1, 0), (2, 0), (3, 0))


class ArrayFacts(NamedTuple):
    """An array as its file describes it."""

    shape: tuple[int, ...]
    dtype: str


def describe_file(path: str) -> dict[str, ArrayFacts]:
    """Name the arrays of a file with their shapes and types, reading no more than that takes.

    Raises:
        RequestError: there is no such file, it is of no known kind, damaged, empty, too large, or holds no numbers,
            truth values or text.
    """
    with _refused(path):
        facts = _kind(path).describe(Path(path))
        if not facts:
            raise ValueError("it holds no array")
        for name, one in facts.items():
            _check_array(name, one)
        needed = sum(math.prod(one.shape) * _item_bytes(one.dtype) for one in facts.values())
        _check_memory(needed)
    return facts


def read_file(path: str) -> Any:
    """Read all arrays of a file.

    Returns:
        A dictionary of arrays by name, a tuple where a .npz file names none, or a single array where the file holds
        one that has no name. Text is an array of bytes objects.

    Raises:
        RequestError: as `describe_file`.
    """
    describe_file(path)
    with _refused(path):
        arrays = _kind(path).read(Path(path))
        return {name: _with_bytes(a) for name, a in arrays.items()} if isinstance(arrays, dict) else _plain(arrays)


class _Kind(NamedTuple):
    describe: Callable[[Path], dict[str, ArrayFacts]]
    read: Callable[[Path], Any]


def _kind(path: str) -> _Kind:
    kind = _KINDS.get(Path(path).suffix.lower())
    if kind is None:
        raise ValueError(f"its name ends in none of {', '.join(_KINDS)}")
    if not Path(path).is_file():
        raise ValueError("there is no such file" if not Path(path).exists() else "it is no file")
    return kind


@contextmanager
def _refused(path: str) -> Iterator[None]:
    """Turn whatever a reader raises into one line that names the file."""
    try:
        yield
    except RequestError:
        raise
    except RecursionError:
        raise RequestError(f"--inputs {path!r}: it is nested too deep. Give a list of numbers per input.") from None
    except MemoryError:
        raise RequestError(f"--inputs {path!r}: it does not fit in memory. Give fewer items.") from None
    except Exception as error:  # noqa: BLE001 - each reader raises types of its own for a damaged file
        text = " ".join(str(error).split()) or type(error).__name__
        text = text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"
        raise RequestError(
            f"--inputs {path!r}: {text.rstrip('.')}. Give .npz, .npy, .json or .parquet with an array per input."
        ) from None


def _describe_npy(path: Path) -> dict[str, ArrayFacts]:
    with path.open("rb") as stream:
        facts = _npy_header(stream)
        wanted = math.prod(facts.shape) * _item_bytes(facts.dtype)
        if not _is_pickled(facts.dtype) and path.stat().st_size - stream.tell() < wanted:
            raise ValueError("it is cut short")
    return {"": facts}


def _describe_npz(path: Path) -> dict[str, ArrayFacts]:
    facts = {}
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if not info.filename.endswith(".npy"):
                raise ValueError(f"it holds {info.filename!r}, which is no array of NumPy")
            with archive.open(info) as stream:
                one = _npy_header(stream)  # type: ignore[arg-type]  # a zip member reads as a binary file does
            if not _is_pickled(one.dtype) and info.file_size < math.prod(one.shape) * _item_bytes(one.dtype):
                raise ValueError(f"its array {info.filename!r} is cut short")
            facts[info.filename.removesuffix(".npy")] = one
    return facts


def _npy_header(stream: BinaryIO) -> ArrayFacts:
    """Read shape and dtype; of the array itself nothing."""
    from numpy.lib import format as npy

    try:
        version = npy.read_magic(stream)
    except ValueError:
        raise ValueError("it is no array of NumPy") from None
    if version not in _NPY_VERSIONS:
        raise ValueError(f"its array is of format {version}, which this version does not read")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(stream)
    # A type of several fields has a short form that NumPy reads back, other than its text.
    plain = str(dtype) if dtype.names is None else dtype.str
    return ArrayFacts(tuple(int(size) for size in shape), "object" if dtype.hasobject else plain)


def _read_npy(path: Path) -> Any:
    import numpy as np

    return np.load(path, allow_pickle=False)


def _read_npz(path: Path) -> Any:
    import numpy as np

    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if all(re.fullmatch(r"arr_[0-9]+", name) for name in arrays):
        return tuple(arrays[name] for name in sorted(arrays, key=lambda name: int(name.removeprefix("arr_"))))
    return arrays


def _describe_json(path: Path) -> dict[str, ArrayFacts]:
    arrays = _read_json(path)
    named = arrays if isinstance(arrays, dict) else {"": arrays}
    return {name: ArrayFacts(tuple(a.shape), _content(a)) for name, a in named.items()}


def _read_json(path: Path) -> Any:
    if path.stat().st_size > _MOST_JSON_BYTES:
        raise ValueError(f"it has more than {_MOST_JSON_BYTES // 2**20} MiB, which is too much for JSON; give .npz")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise ValueError("it is not text") from None
    except ValueError as error:
        raise ValueError(f"it is not JSON: {error}") from None
    if isinstance(content, list) and content and all(isinstance(row, dict) for row in content):
        names = list(content[0])
        if any(set(row) != set(names) for row in content):
            raise ValueError("its rows do not all have the same keys")
        content = {name: [row[name] for row in content] for name in names}
    if isinstance(content, dict):
        return {str(name): _array(value, repr(name)) for name, value in content.items()}
    if isinstance(content, list):
        return _array(content, "its list")
    raise ValueError("it holds neither a list nor an object of lists")


def _describe_parquet(path: Path) -> dict[str, ArrayFacts]:
    return {name: ArrayFacts(tuple(a.shape), _content(a)) for name, a in _read_parquet(path).items()}


def _read_parquet(path: Path) -> dict[str, Any]:
    import pandas as pd
    import pyarrow.parquet as pq

    metadata = pq.ParquetFile(path).metadata
    _check_memory(sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups)))
    frame = pd.read_parquet(path)
    return {str(name): _column(frame[name], str(name)) for name in frame.columns}


def _column(series: Any, name: str) -> Any:
    """Make one array of a column: plain values, or lists of one length."""
    import numpy as np

    if series.dtype.kind in "biufc" and not hasattr(series.dtype, "na_value"):
        return series.to_numpy()
    if series.isna().any():
        raise ValueError(f"its column {name!r} has missing values")
    return _array([value.tolist() if isinstance(value, np.ndarray) else value for value in series], f"column {name!r}")


def _array(value: Any, what: str) -> Any:
    """Make an array of nested lists that are as long as one another."""
    import numpy as np

    try:
        array = np.array(value)
    except (ValueError, TypeError, OverflowError):
        raise ValueError(
            f"{what} is no array: its lists are not of one length, or mix numbers with other things"
        ) from None
    mixed = array.dtype.kind in "US" and not _is_text(value)
    if array.dtype.kind not in "biufcUS" or mixed:
        raise ValueError(f"{what} holds something else than numbers, truth values or text")
    return array


def _is_text(value: Any) -> bool:
    """Say whether nested lists hold text alone: NumPy would write the numbers among it as text as well."""
    if isinstance(value, list | tuple):
        return all(_is_text(item) for item in value)
    return isinstance(value, str | bytes)


def _content(array: Any) -> str:
    return str(array.dtype)


def _plain(arrays: Any) -> Any:
    return tuple(map(_with_bytes, arrays)) if isinstance(arrays, tuple) else _with_bytes(arrays)


def _with_bytes(array: Any) -> Any:
    """Turn text into bytes objects, as TensorFlow holds it; leave numbers alone."""
    import numpy as np

    if array.dtype.kind == "S":
        return array.astype(object)
    return np.char.encode(array, "utf-8").astype(object) if array.dtype.kind == "U" else array


def _check_array(name: str, facts: ArrayFacts) -> None:
    title = f"array {name!r}" if name else "it"
    if _is_pickled(facts.dtype):
        raise ValueError(f"{title} holds pickled Python objects, which are not read")
    import numpy as np

    if np.dtype(facts.dtype).kind not in "biufcUS":
        raise ValueError(f"{title} is of dtype {facts.dtype}, which is no number, truth value or text")
    if 0 in facts.shape:
        raise ValueError(f"{title} is empty: its shape is {facts.shape}")


def _is_pickled(dtype: str) -> bool:
    return dtype == "object"


def _item_bytes(dtype: str) -> int:
    import numpy as np

    return 0 if _is_pickled(dtype) else int(np.dtype(dtype).itemsize)


def _check_memory(needed: int) -> None:
    import psutil

    from mlflow_tfexec.units import memory

    available = psutil.virtual_memory().available
    if needed > available * _MOST_SHARE_OF_MEMORY:
        raise ValueError(
            f"its arrays take {memory(needed / 2**20)}, and this machine has {memory(available / 2**20)} free"
        )


_KINDS: Mapping[str, _Kind] = MappingProxyType(
    {
        ".npz": _Kind(_describe_npz, _read_npz),
        ".npy": _Kind(_describe_npy, _read_npy),
        ".json": _Kind(_describe_json, _read_json),
        ".parquet": _Kind(_describe_parquet, _read_parquet),
    }
)
SUFFIXES: Sequence[str] = tuple(_KINDS)
