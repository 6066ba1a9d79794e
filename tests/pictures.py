"""A data set of ten small pictures, in every form that a source may deliver, and ways to damage a file."""

from __future__ import annotations

import gzip
import io
import pickle
import tarfile
import zipfile
from pathlib import Path

import numpy as np

from skem import datasets

rng = np.random.default_rng(0)
PICTURES = rng.integers(0, 256, (10, 4, 4), dtype=np.uint8)
DIGITS = np.arange(10) % 3
FILES = ("train-images", "train-labels", "test-images", "test-labels")


def idx(array: np.ndarray) -> bytes:
    header = bytes([0, 0, 8, array.ndim]) + b"".join(n.to_bytes(4, "big") for n in array.shape)
    return header + array.astype(np.uint8).tobytes()


def raw_files() -> dict[str, bytes]:
    parts = (PICTURES[:6], DIGITS[:6], PICTURES[6:], DIGITS[6:])
    return {file: idx(part) for file, part in zip(FILES, parts, strict=True)}


def tar_of(members: dict[str, bytes], links: dict[str, str] | None = None) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
        for name, blob in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(blob)
            archive.addfile(info, io.BytesIO(blob))
    return packed.getvalue()


def deb_of(members: dict[str, bytes]) -> bytes:
    packed = b"!<arch>\n"
    control = tar_of({"./control": b"Package: pictures\n"})
    parts = {"debian-binary": b"2.0\n", "control.tar.gz": control, "data.tar.gz": tar_of(members)}
    for name, blob in parts.items():
        packed += f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(blob):<10}`\n".encode()
        packed += blob + b"\n" * (len(blob) % 2)
    return packed


def zip_of(members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, blob in members.items():
            archive.writestr(name, blob)
    return packed.getvalue()


def spec_of(data: np.ndarray, target: np.ndarray, sources: list[dict], **more) -> dict:
    spec = {
        "title": "a test",
        "sha256": datasets.content_hash(data, target),
        "shape": list(data.shape),
        "dtype": str(data.dtype),
        "n_classes": len(np.unique(target)),
        "n_train": None,
        "target_names": [str(label) for label in np.unique(target)],
        "licence": "none",
        "citation": "nobody",
        "doi": None,
        "sources": [{"kind": "mirror"}, *sources],
    }
    return spec | more


def pictures_config() -> dict:
    packed = {"decoder": "idx", "members": [f"package/{file}" for file in FILES]}
    sources = [
        {"kind": "url", "decoder": "idx", "files": [{"url": f"http://127.0.0.1:9/{f}.gz"} for f in FILES]},
        {"kind": "npm", "package": "pictures", "version": "1.0", "archive": "pictures-1.0.tgz"} | packed,
        {"kind": "pip", "package": "no-such-pictures", "version": "1.0", "archive": "pictures-*.whl"}
        | packed,
        {"kind": "apt", "package": "pictures", "archive": "pictures_*.deb"} | packed,
    ]
    return {"pictures": spec_of(PICTURES, DIGITS, sources, n_train=6)}


def fill(folder: Path, files: dict[str, bytes]) -> None:
    for name, blob in files.items():
        (folder / name).write_bytes(blob)


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def is_right(dataset: datasets.Dataset) -> bool:
    return np.array_equal(dataset.data, PICTURES) and np.array_equal(dataset.target, DIGITS)


def in_package() -> dict[str, bytes]:
    return {f"package/{file}": blob for file, blob in raw_files().items()}


FORMS = {
    "loose": raw_files,
    "loose, gzipped": lambda: {f"{file}.gz": gzip.compress(blob) for file, blob in raw_files().items()},
    "npm package": lambda: {"pictures-1.0.tgz": tar_of(in_package())},
    "wheel": lambda: {"pictures-1.0-py3-none-any.whl": zip_of(in_package())},
    "Debian package": lambda: {
        "pictures_1_all.deb": deb_of({f"./usr/{name}": blob for name, blob in in_package().items()})
    },
}


DAMAGE = {
    "truncated": lambda blob: blob[: len(blob) // 2],
    "one bit": lambda blob: blob[:-5] + bytes([blob[-5] ^ 1]) + blob[-4:],
    "empty": lambda blob: b"",
    "a web page": lambda blob: b"<!DOCTYPE html><html>Please log in</html>",
    "a pickle": lambda blob: pickle.dumps({"data": 1}),
}
