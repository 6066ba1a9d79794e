"""Raw files, decoded in memory: archives are read by member and never extracted, nothing is unpickled."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import pickletools
import re
import shutil
import struct
import subprocess
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

Arrays = tuple[np.ndarray, np.ndarray]
# No member of any data set is larger than 110 MB; more is a decompression bomb.
_LARGEST = 1 << 28


class SourceError(Exception):
    """A source did not deliver; the message says why."""


# ------------------------------------------------------------------------------------------- reading files


def _bounded(stream: Any) -> bytes:
    blob = stream.read(_LARGEST + 1)
    if len(blob) > _LARGEST:
        raise SourceError(f"a member is larger than {_LARGEST >> 20} MiB")
    return blob


def _unpacked(blob: bytes) -> bytes:
    if blob[:2] != b"\x1f\x8b":
        return blob
    with gzip.open(io.BytesIO(blob)) as stream:
        return _bounded(stream)


def _members(path: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The regular files of an archive: name, and how to open each before going on to the next."""
    if path.suffix in (".zip", ".whl"):
        with zipfile.ZipFile(path) as zipped:
            for entry in zipped.infolist():
                yield entry.filename, partial(zipped.open, entry)
        return
    data = _deb_data(path) if path.suffix == ".deb" else None
    with tarfile.open(path, mode="r:*", fileobj=data) as archive:
        for info in archive:
            if info.isfile():
                yield info.name, partial(archive.extractfile, info)


def _deb_data(path: Path) -> io.BytesIO:
    """The tar archive inside a Debian package."""
    if shutil.which("dpkg-deb"):  # reads zstd too, which tarfile learns in Python 3.14
        done = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], capture_output=True, timeout=300)
        if done.returncode:
            raise SourceError(f"{path.name} is not a whole Debian package")
        return io.BytesIO(done.stdout)
    with open(path, "rb") as stream:
        if stream.read(8) != b"!<arch>\n":
            raise SourceError(f"{path.name} is not a Debian package")
        while len(header := stream.read(60)) == 60:
            size = int(header[48:58])
            if header.startswith(b"data.tar"):
                return io.BytesIO(stream.read(size))
            stream.seek(size + size % 2, os.SEEK_CUR)
    raise SourceError(f"{path.name} holds no data")


def _pick(path: Path, wanted: list[str]) -> list[bytes]:
    found: dict[str, bytes] = {}
    for name, open_member in _members(path):
        for member in wanted:
            if member not in found and f"/{name}".endswith(f"/{member}"):
                with open_member() as stream:
                    found[member] = _bounded(stream)
        if len(found) == len(wanted):
            return [found[member] for member in wanted]
    missing = [member for member in wanted if member not in found]
    raise SourceError(f"{path.name} has no member {missing[0]}")


def _decode(paths: list[Path], source: dict[str, Any], spec: dict[str, Any]) -> Arrays:
    if "members" in source:
        blobs = _pick(paths[0], source["members"])
    else:
        blobs = []
        for path in paths:
            with open(path, "rb") as stream:
                blobs.append(_bounded(stream))
    words, decoder = _DECODERS[source["decoder"]]
    try:
        data, target = decoder([_unpacked(blob) for blob in blobs], spec)
    except SourceError:
        raise
    except Exception as error:
        # Not its message: it quotes what the file holds, which may be no data at all and anybody's secret.
        raise SourceError(f"not {words} ({type(error).__name__})") from error
    return np.ascontiguousarray(data), np.ascontiguousarray(target, dtype=np.int64)


# ------------------------------------------------------------------------------------------------ decoders


def _idx_array(blob: bytes) -> np.ndarray:
    zero, kind, ndim = struct.unpack(">HBB", blob[:4])
    if zero or kind != 8:
        raise SourceError("not an IDX file of unsigned bytes")
    shape = struct.unpack(f">{ndim}I", blob[4 : 4 + 4 * ndim])
    return np.frombuffer(blob, np.uint8, offset=4 + 4 * ndim).reshape(shape)


def _idx(blobs: list[bytes], spec: dict[str, Any]) -> Arrays:
    """Four files: training images and labels, test images and labels."""
    arrays = [_idx_array(blob) for blob in blobs]
    return np.concatenate(arrays[0::2]), np.concatenate(arrays[1::2])


def _digits_csv(blobs: list[bytes], spec: dict[str, Any]) -> Arrays:
    """Two tables, training and test, each with a header: the label, then the pixels row by row."""
    table = np.concatenate(
        [np.loadtxt(io.BytesIO(blob), dtype=np.uint8, delimiter=",", skiprows=1) for blob in blobs]
    )
    return table[:, 1:].reshape(spec["shape"]), table[:, 0]


def _cifar_binary(blobs: list[bytes], spec: dict[str, Any]) -> Arrays:
    """Six files of rows: the label, then 32 x 32 pixels of red, of green, of blue."""
    rows = np.concatenate([np.frombuffer(blob, np.uint8) for blob in blobs]).reshape(-1, 1 + 3 * 32 * 32)
    return rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), rows[:, 0]


def _cifar_pickled(blobs: list[bytes], spec: dict[str, Any]) -> Arrays:
    """Six pickles of Python 2, each with the pixels as one string and a list of labels; none of them is executed."""
    pixels, labels = [], []
    for blob in blobs:
        last, own = None, []
        for code, value, _ in pickletools.genops(blob):
            if "STRING" in code.name and isinstance(value, str):
                if len(value) > 32 * 32 * 3:
                    pixels.append(np.frombuffer(value.encode("latin-1"), np.uint8))
                last = value
            elif code.name == "BININT1" and last == "labels":
                own.append(value)
        labels.append(np.array(own))
    images = np.concatenate(pixels).reshape(-1, 3, 32, 32)
    return images.transpose(0, 2, 3, 1), np.concatenate(labels)


def _cifar_png(blobs: list[bytes], spec: dict[str, Any]) -> Arrays:
    """Six RGB images, each row of which is one 32 x 32 picture, then two lists of labels."""
    from PIL import Image

    pictures = []
    for blob in blobs[:6]:
        with Image.open(io.BytesIO(blob), formats=["PNG"]) as image:
            if image.mode != "RGB" or image.width != 32 * 32 or image.height > spec["shape"][0]:
                raise SourceError(f"unexpected picture: {image.mode}, {image.width} x {image.height}")
            pictures.append(np.asarray(image).reshape(-1, 32, 32, 3))
    labels = [np.asarray(json.loads(blob), dtype=np.int64) for blob in blobs[6:]]
    return np.concatenate(pictures), np.concatenate(labels)


def _table(blobs: list[bytes], spec: dict[str, Any]) -> Arrays:
    """Rows of numbers that end in a class label, separated by commas, semicolons or blanks: ARFF, or the same without
    a header, or below a line of names.

    Of several files the rows are strung together. Intervals, and words that ``levels`` lists, become numbers, "?" becomes
    NaN; what stands before the features, such as a date, is left out. Rows have no label if there is only one class.
    """
    if any(b"\0" in blob for blob in blobs):
        raise SourceError("a binary file, not a table of text")
    labels = spec.get("labels", spec["target_names"])
    words = {word for label in labels for word in ([label] if isinstance(label, str) else label)}
    lines = [line for blob in blobs for line in _lines_below_names(blob.decode("utf-8"), words)]
    if not lines:
        raise SourceError("not a table of rows of numbers")
    if "columns" in spec:
        return _columns(lines, spec)
    m = spec["shape"][1]
    try:
        # Far faster, and with less memory, where there are many rows.
        table = np.loadtxt(lines, ndmin=2)
        values = [float(label) for label in labels] if len(labels) > 1 else []
    except ValueError:
        words_of = spec.get("levels", {})
        levels = [words_of.get(name) for name in spec.get("feature_names", ())]
        rows = [line.split()[-m - 1 :] for line in lines]
        cells = [[_number(cell, words) for cell, words in zip_longest(row[:-1], levels)] for row in rows]
        data, target = np.array(cells, dtype=np.float64), np.array([labels.index(row[-1]) for row in rows])
    else:
        data, target = table[:, : len(table.T) - bool(values)][:, -m:], np.zeros(len(table), dtype=np.int64)
        if values:
            order = np.argsort(values)
            places = np.searchsorted(values, table[:, -1], sorter=order)
            target = order[np.minimum(places, len(values) - 1)]
            if not np.array_equal(np.array(values)[target], table[:, -1]):
                raise SourceError("a label that is none of the classes")
    # + 0.0: one source may write -0.0 where another writes 0
    return data + 0.0, target


def _features_and_labels(blobs: list[bytes], spec: dict[str, Any]) -> Arrays:
    """Two files with a line per sample: its features, and its label."""
    features, labels = (blob.splitlines() for blob in blobs)
    return _table([b"\n".join(b" ".join(pair) for pair in zip(features, labels, strict=True))], spec)


def _columns(lines: list[str], spec: dict[str, Any]) -> Arrays:
    """Select features by name from the ``columns`` of a table; the column "class" has the labels.

    The feature "column=word" is the indicator of a word. A class with several labels has a list of them; samples whose label is
    ``left_out`` are no part of the data set.
    """
    place, left_out = spec["columns"].index("class"), spec.get("left_out", ())
    rows = [row for line in lines if (row := line.replace('"', "").split())[place] not in left_out]
    cells = dict(zip(spec["columns"], zip(*rows, strict=True), strict=True))
    data = []
    for name in spec["feature_names"]:
        column, _, word = name.partition("=")
        words = spec.get("levels", {}).get(column)
        data.append([float(cell == word) if word else _number(cell, words) for cell in cells[column]])
    classes = spec.get("labels", spec["target_names"])
    labels = [[words] if isinstance(words, str) else words for words in classes]
    codes = {word: code for code, words in enumerate(labels) for word in words}
    return np.array(data).T + 0.0, np.array([codes[label] for label in cells["class"]])


def _lines_below_names(text: str, labels: set[str]) -> Iterator[str]:
    """The rows of a table, separated by blanks."""
    lines = (line.strip() for line in text.replace(",", " ").replace(";", " ").splitlines())
    rows = (line for line in lines if line and line[0] not in "%@")
    for first in rows:
        # A line of names has no cell that is a label, or begins as a number does.
        if any(cell in labels or re.match(r"[-+.]?\d", cell) for cell in first.split()):
            yield first
        break
    yield from rows


def _number(cell: str, levels: list[str] | None) -> float:
    """A number; the lower end of an interval such as 10-14; or the index of one of these words."""
    if levels is not None:
        return levels.index(cell)
    interval = re.fullmatch(r"(\d+)-\d+", cell)
    return float("nan" if cell == "?" else interval[1] if interval else cell)


def _pickled_frame(blobs: list[bytes], spec: dict[str, Any]) -> Arrays:
    """Pickles of a table in xz, each with one block of float64 features, then one of int64 columns, the label last.

    Their bytes are cut out of the stream of instructions, none of which is executed.
    """
    data, target = [], []
    for blob in blobs:
        with lzma.open(io.BytesIO(blob)) as packed:
            stream = _bounded(packed)
        instructions: Iterator[tuple[Any, Any, Any]] = pickletools.genops(stream)
        features, integers = (value for code, value, _ in instructions if code.name == "BYTEARRAY8")
        data.append(np.frombuffer(features, "<f8").reshape(spec["shape"][1], -1).T)
        target.append(np.frombuffer(integers, "<i8")[-len(data[-1]) :])
    return np.concatenate(data), np.concatenate(target)


_DECODERS: dict[str, tuple[str, Callable[[list[bytes], dict[str, Any]], Arrays]]] = {
    "idx": ("IDX files", _idx),
    "digits_csv": ("CSV tables of labels and pixels", _digits_csv),
    "cifar_binary": ("CIFAR's binary files", _cifar_binary),
    "cifar_pickled": ("CIFAR's pickled batches", _cifar_pickled),
    "cifar_png": ("pictures and lists of labels", _cifar_png),
    "pickled_frame": ("pickled tables", _pickled_frame),
    "features_and_labels": ("a table of features and a list of labels", _features_and_labels),
    "table": ("a table of rows of numbers that end in a label", _table),
}
