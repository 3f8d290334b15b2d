"""Where a data set's rows come from: a list, a local file, or the Hugging Face hub; loaded once per process.

`GEM_DATA=<folder>` maps a hub name to `<folder>/<owner>/<name>/<split>.jsonl`, so that everything runs offline. Files
are UTF-8, with or without a byte order mark, whatever the machine's locale says.
"""

from __future__ import annotations

import csv
import json
import logging
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from gem.errors import DatasetError, MissingDependency

__all__ = ["Rows", "check_source", "load_rows"]

_logger = logging.getLogger(__name__)
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_EXTRA = "pip install 'gem-core[datasets]'"


class Rows:
    """The rows of one data set, shared by all environments of a process that use it.

    Attributes:
        name: What to call the data set in messages.
    """

    def __init__(self, rows: Any, name: str) -> None:
        """Keep `rows`: a sequence of mappings, or what acts like one (a `datasets.Dataset`)."""
        self._rows = rows
        self.name = name
        self._checked: set[tuple[tuple[str, ...], int]] = set()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def __getitem__(self, index: int) -> Mapping[str, Any]:
        """Return one row."""
        row: Mapping[str, Any] = self._rows[index]
        return row

    def require(self, keys: tuple[str, ...], count: int) -> None:
        """Check once that the first `count` rows have all of `keys`.

        Raises:
            DatasetError: One lacks a key, or is no mapping.
        """
        if (keys, count) in self._checked:
            return
        if hasattr(self._rows, "column_names"):  # the same for every row, and reading them all would be slow
            self._require(dict.fromkeys(self._rows.column_names, ""), keys, 0)
        else:
            for index in range(count):
                self._require(self._rows[index], keys, index)
        self._checked.add((keys, count))

    def _require(self, row: Any, keys: tuple[str, ...], index: int) -> None:
        if not isinstance(row, Mapping):
            kind = type(row).__name__
            raise DatasetError(f"Row {index} of {self.name} is not a mapping of keys to values but a {kind}.")
        for key in keys:
            if row.get(key) is None:
                what = f"has no {key!r}" if key not in row else f"has nothing under {key!r}"
                raise DatasetError(
                    f"Row {index} of {self.name} {what}; its keys are {', '.join(map(repr, row)) or 'none'}. Name "
                    "the right ones with question_key= and answer_key=, or leave such rows out.",
                )


def check_source(dataset: Any, split: str) -> None:
    """Refuse what cannot be a data set, without any input or output.

    Raises:
        DatasetError: It is empty, streams, lacks the split, or is a name that is neither a file nor `owner/name`.
        TypeError: It is of another type.
    """
    _resolve(dataset, split)


def load_rows(dataset: Any, split: str) -> Rows:
    """Return the rows of a data set, loaded at most once per process while any environment uses them.

    Args:
        dataset: Rows, a path, or a name on the hub, as `gem.dataset.DatasetEnv` takes them.
        split: Which split of it, where it has several.

    Raises:
        DatasetError: It cannot be had, or is not what its format says.
        MissingDependency: It needs `datasets`, which is not installed.
    """
    key, name, load = _resolve(dataset, split)
    with _locks.setdefault(key, threading.Lock()):  # one lock per set: a hub that hangs holds up nothing else
        rows = _loaded.get(key)
        if rows is None:
            rows = Rows(load(), name)
            if not len(rows):
                raise DatasetError(f"{name} has no rows.")
            _loaded[key] = rows
        return rows


_loaded: WeakValueDictionary[tuple[Any, ...], Rows] = WeakValueDictionary()  # freed with the last env that uses it
_locks: dict[tuple[Any, ...], threading.Lock] = {}
os.register_at_fork(after_in_child=_locks.clear)  # the thread that held one does not exist in the child


def _resolve(dataset: Any, split: str) -> tuple[tuple[Any, ...], str, Callable[[], Any]]:
    """Return the key in the cache, the name in messages, and how to load it."""
    if isinstance(dataset, os.PathLike):
        return _file(Path(dataset), split)
    if isinstance(dataset, str):
        if _looks_like_path(dataset):
            return _file(Path(dataset), split)
        if not _HUB_NAME.fullmatch(dataset):
            raise DatasetError(
                f"dataset={dataset!r} is neither a file that exists nor a hub name of the form 'owner/name'. Give a "
                f"path that ends in {', '.join(_READERS)}, a list of dicts, or such a name.",
            )
        key = ("hub", dataset, split, os.environ.get("GEM_DATA"))
        return key, f"{dataset} ({split})", lambda: _from_hub(dataset, split)
    if isinstance(dataset, Mapping):  # a datasets.DatasetDict is one
        if split not in dataset:
            there = ", ".join(map(repr, dataset)) or "none"
            raise DatasetError(f"The data set has no split {split!r}; it has {there}. Set split=.")
        return _resolve(dataset[split], split)
    listed = isinstance(dataset, Sequence) and not isinstance(dataset, (bytes, bytearray))
    if not listed and not (hasattr(dataset, "column_names") and hasattr(dataset, "__len__")):
        raise TypeError(
            "dataset= takes a list of dicts, a path, a datasets.Dataset or a hub name 'owner/name'; got a "
            f"{type(dataset).__name__}. Make a list of its rows (what streams has no row numbers).",
        )
    if not len(dataset):
        raise DatasetError("dataset= has no rows.")
    # Rows hold the object, so its id stays taken for as long as the cache can find it.
    return ("object", id(dataset)), f"the given {type(dataset).__name__}", lambda: dataset


def _looks_like_path(text: str) -> bool:
    return text.startswith(("/", ".", "~")) or Path(text).suffix.lower() in _READERS or Path(text).exists()


def _file(path: Path, split: str) -> tuple[tuple[Any, ...], str, Callable[[], Any]]:
    path = path.expanduser()
    if path.is_dir():
        path = path / f"{split}.jsonl"
    if path.suffix.lower() not in _READERS:
        raise DatasetError(f"{path} is of no known format: its name has to end in {', '.join(_READERS)}.")
    try:
        status = path.stat()
        version: tuple[Any, ...] = (status.st_mtime_ns, status.st_size)  # a file written anew is another data set
    except OSError:
        version = ()
    return ("file", path.resolve(), split, *version), str(path), lambda: _from_file(path, split)


def _from_file(path: Path, split: str) -> Sequence[Any]:
    try:
        return _READERS[path.suffix.lower()](path, split)
    except FileNotFoundError as error:
        raise DatasetError(f"There is no file {path} (working directory: {Path.cwd()}).") from error
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error}.") from error
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path} is not UTF-8 text ({error}); convert it.") from error


def _read_jsonl(path: Path, split: str) -> list[Any]:
    return list(_json_lines(path))


def _json_lines(path: Path) -> Iterator[Any]:
    # Only "\n" ends a line: JSON strings may hold U+2028 and its kind as they are.
    with path.open(encoding="utf-8-sig", newline="\n") as file:
        for number, line in enumerate(file, 1):
            if line.isspace():
                continue
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                cut = "" if line.endswith("\n") else " It is the last line: was the file cut off while it was written?"
                raise DatasetError(f"Line {number} of {path} is not JSON ({error}).{cut}") from error


def _read_json(path: Path, split: str) -> list[Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path} is not JSON ({error}); one object a line is JSON Lines: name it .jsonl.") from error
    if isinstance(content, dict):
        content = content.get(split)
    if not isinstance(content, list):
        raise DatasetError(f"{path} holds neither a list of objects nor an object with such a list under {split!r}.")
    return content


def _read_csv(path: Path, split: str) -> list[Any]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            return list(csv.DictReader(file))
        except csv.Error as error:
            raise DatasetError(f"{path} is not CSV that Python reads ({error}); convert it to JSON Lines.") from error


def _read_parquet(path: Path, split: str) -> list[Any]:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise MissingDependency(f"Reading {path} needs pyarrow: {_EXTRA}, or convert it to JSON Lines.") from error
    with path.open("rb") as file:
        try:
            rows: list[Any] = parquet.read_table(file).to_pylist()
        except ValueError as error:  # pyarrow's own errors are ValueErrors
            raise DatasetError(f"{path} is not Parquet: {error}.") from error
    return rows


_READERS: dict[str, Callable[[Path, str], list[Any]]] = {
    ".jsonl": _read_jsonl,
    ".json": _read_json,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
}


def _from_hub(name: str, split: str) -> Any:
    local = f"{name}/{split}.jsonl"
    folder = os.environ.get("GEM_DATA")
    if folder:
        path = Path(folder).expanduser() / local
        if path.is_file():
            return _from_file(path, split)
        offline = f"put its rows into {path} (GEM_DATA is set, and that file is not there)"
    else:
        offline = f"set GEM_DATA=<folder> and put its rows into <folder>/{local}"
    try:
        import datasets
    except ImportError as error:
        raise MissingDependency(
            f"{name} is on the Hugging Face hub, which needs the package `datasets`: {_EXTRA}. Or {offline}.",
        ) from error
    _logger.info("Loading %s (%s) from the Hugging Face hub.", name, split)
    try:
        return datasets.load_dataset(name, split=split)
    except Exception as error:  # the libraries underneath raise dozens of kinds, and all mean the same here
        reason = str(error).strip().partition("\n")[0]
        raise DatasetError(
            f"{name} ({split}) cannot be had from the Hugging Face hub: {type(error).__name__}: {reason}. Either check "
            f"the name, the split and the connection (HF_ENDPOINT names a mirror), or work offline: {offline}.",
        ) from error
