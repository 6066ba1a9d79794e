"""Files: every digit comes back, never half a file, nothing unpickled."""

import errno
import fcntl
import json
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skem.repro import files
from skem.repro.files import (
    UNFINISHED,
    clean_up,
    plain_errors,
    read_arrays,
    read_table,
    write,
    write_arrays,
    write_json,
    write_table,
    write_text,
)

FLOATS = st.floats(allow_nan=True, allow_infinity=True, allow_subnormal=True, width=64)
same_folder = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@same_folder
@given(st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=30))
def test_every_float_comes_back_exactly(tmp_path, values):
    columns = np.array(values, dtype=float)
    write_table(tmp_path / "t.csv", [{"a": a, "b": b} for a, b in values])
    back = read_table(tmp_path / "t.csv")
    assert list(back) == ["a", "b"]
    np.testing.assert_array_equal(back.to_numpy(dtype=float), columns)


@same_folder
@given(st.lists(FLOATS, min_size=1, max_size=10))
def test_a_lone_column_keeps_its_empty_rows(tmp_path, values):
    write_table(tmp_path / "t.csv", [{"seconds": value} for value in values])
    np.testing.assert_array_equal(read_table(tmp_path / "t.csv")["seconds"].to_numpy(dtype=float), values)


@pytest.mark.parametrize("value", [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1 + 0.2, 1 / 3])
def test_hard_floats_come_back_exactly(tmp_path, value):
    write_table(tmp_path / "t.csv", [{"run": 0, "x": value}, {"run": 1, "x": -value}])
    assert read_table(tmp_path / "t.csv")["x"].tolist() == [value, -value]


def test_integers_stay_integers_and_bools_stay_bools(tmp_path):
    write_table(tmp_path / "t.csv", [{"run": 0, "n": 2**53 + 1, "chosen": True}])
    row = read_table(tmp_path / "t.csv").iloc[0]
    assert (row["run"], row["n"], row["chosen"]) == (0, 2**53 + 1, True)


@pytest.mark.parametrize("label", ["1e-3", "0.10", "007", "NA", "None", "nan", "true", 'a, "b"', "Grüße"])
def test_a_setting_keeps_its_name(tmp_path, label):
    """The schema allows such names of settings; a table that lost them would find no rows."""
    write_table(tmp_path / "t.csv", [{"dataset": "rice", "method": "skem", "setting": label, "run": 0}])
    assert read_table(tmp_path / "t.csv")["setting"].tolist() == [label]


def test_equal_tables_are_equal_bytes_on_every_system(tmp_path):
    for name in ("a", "b"):
        write_table(tmp_path / name, pd.DataFrame({"x": [0.1, np.nan], "y": [1, 2]}))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").read_bytes() == b"x,y\n0.10000000000000001,1\n,2\n"


def test_tables_without_rows(tmp_path):
    write_table(tmp_path / "none.csv", [])
    assert len(read_table(tmp_path / "none.csv")) == 0
    write_table(tmp_path / "columns.csv", pd.DataFrame(columns=["run", "pass"]))
    assert list(read_table(tmp_path / "columns.csv")) == ["run", "pass"]
    assert len(read_table(tmp_path / "columns.csv")) == 0


def test_json_is_sorted_and_readable(tmp_path):
    write_json(tmp_path / "r.json", {"b": 1, "a": "Ünal, 2019"})
    text = (tmp_path / "r.json").read_text(encoding="utf-8")
    assert text == '{\n  "a": "Ünal, 2019",\n  "b": 1\n}\n'
    assert json.loads(text) == {"b": 1, "a": "Ünal, 2019"}


@same_folder
@given(st.dictionaries(st.sampled_from(["X", "y-0-1", "part-0-0"]), st.lists(FLOATS, max_size=5)))
def test_arrays_come_back_bit_by_bit(tmp_path, content):
    arrays = {name: np.array(values) for name, values in content.items()}
    arrays |= {"int16": np.arange(3, dtype="int16"), "float32": np.float32([1e-45, np.inf])}
    write_arrays(tmp_path / "a.npz", arrays)
    back = read_arrays(tmp_path / "a.npz")
    assert list(back) == list(arrays)
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype
        assert back[name].tobytes() == array.tobytes()


def test_no_arrays_is_an_empty_file(tmp_path):
    write_arrays(tmp_path / "a.npz", {})
    assert read_arrays(tmp_path / "a.npz") == {}


class Bomb:
    def __reduce__(self):
        return (os.mkdir, ("exploded",))


def test_pickled_objects_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("a.npz", X=np.array([Bomb()], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle"):
        read_arrays("a.npz")
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize(
    "error", [ValueError("no"), KeyboardInterrupt(), OSError(28, "No space left on device")]
)
def test_a_failing_save_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "t.csv"
    write_text(path, "old\n")

    def save(file):
        file.write(b"half of the n")
        file.flush()
        raise error

    with pytest.raises(type(error)):
        write(path, save)
    assert path.read_text() == "old\n"
    assert os.listdir(tmp_path) == ["t.csv"]


def test_a_new_file_is_readable_by_others_and_folders_are_made(tmp_path):
    path = tmp_path / "results" / "runs" / "t.csv"
    write_text(path, "x\n")
    assert path.stat().st_mode & 0o777 == 0o644
    assert os.listdir(path.parent) == ["t.csv"]


def test_a_folder_that_cannot_be_made_is_an_os_error(tmp_path):
    (tmp_path / "results").write_text("a file where a folder should be")
    with pytest.raises(OSError, match="results"):
        write_text(tmp_path / "results" / "t.csv", "x\n")


def test_a_reader_never_sees_half_a_file(tmp_path):
    path, sizes, stop = tmp_path / "t.txt", set(), threading.Event()
    texts = ["a" * 200_000, "b" * 100_000]
    write_text(path, texts[0])

    def watch():
        while not stop.is_set():
            sizes.add(path.read_text())

    reader = threading.Thread(target=watch)
    reader.start()
    for i in range(40):
        write_text(path, texts[i % 2])
    stop.set()
    reader.join()
    assert sizes <= set(texts)


FULL_DISK = """
import resource, sys
import numpy as np
from skem.repro import files
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
with files.plain_errors():
    {call}
"""


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("t.csv", "files.write_table(sys.argv[1], [{'x': i / 3} for i in range(10_000)])"),
        ("a.npz", "files.write_arrays(sys.argv[1], {'X': np.zeros(100_000)})"),
    ],
)
def test_a_full_disk_is_one_line_and_leaves_the_old_file(tmp_path, name, call):
    (tmp_path / name).write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK.format(call=call), str(tmp_path / name)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "too large" in done.stderr
    assert str(tmp_path / name) in done.stderr
    assert done.stderr.count("\n") == 1
    assert (tmp_path / name).read_text() == "old"
    assert os.listdir(tmp_path) == [name]


WRITER = """
import sys, time
from skem.repro.files import write
def save(file):
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    time.sleep(100)
write(sys.argv[1], save)
"""


def test_only_what_killed_writers_left_is_cleaned_up(tmp_path):
    writers = []
    for name in ("killed.csv", "living.csv"):
        command = [sys.executable, "-c", WRITER, str(tmp_path / "runs" / name)]
        writers.append(subprocess.Popen(command, stdout=subprocess.PIPE))
        assert writers[-1].stdout.readline() == b"writing\n"
    killed, living = writers
    killed.kill()
    killed.wait()
    kept = [".notes.markdown", ".half.csv.abcdefgh", f"half{UNFINISHED}", f".folder{UNFINISHED}/kept"]
    for name in kept:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("of the user")
    (tmp_path / f".link{UNFINISHED}").symlink_to(tmp_path / kept[0])
    deleted = clean_up(tmp_path)
    assert [path.name.startswith(".killed.csv.") for path in deleted] == [True]
    assert [path for path in deleted if path.exists()] == []
    assert all((tmp_path / name).read_text() == "of the user" for name in kept)
    assert len(list((tmp_path / "runs").iterdir())) == 1
    living.kill()
    living.wait()
    assert [path.name.startswith(".living.csv.") for path in clean_up(tmp_path)] == [True]
    assert clean_up(tmp_path / "not there") == []


def test_without_locks_only_what_is_old_is_cleaned_up(tmp_path, monkeypatch):
    """A job on another machine may be writing it."""

    def without_locks(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(files.fcntl, "flock", without_locks)
    new, old = (tmp_path / f".{name}.csv.x{UNFINISHED}" for name in ("new", "old"))
    for path in (new, old):
        path.write_text("half")
    os.utime(old, (0, time.time() - files.ABANDONED - 60))
    assert clean_up(tmp_path) == [old]
    assert new.exists()
    write_text(tmp_path / "whole.csv", "all of it")
    assert (tmp_path / "whole.csv").read_text() == "all of it"


def test_files_are_open_for_writing_when_they_are_locked(tmp_path, monkeypatch):
    """On NFS an exclusive lock of a file that is open for reading only is refused."""
    modes = []
    monkeypatch.setattr(
        files.fcntl, "flock", lambda handle, _: modes.append(fcntl.fcntl(handle, fcntl.F_GETFL))
    )
    (tmp_path / f".a.csv.x{UNFINISHED}").write_text("half")
    clean_up(tmp_path)
    write_text(tmp_path / "whole.csv", "all of it")
    assert [mode & os.O_ACCMODE for mode in modes] == [os.O_RDWR, os.O_RDWR]


@pytest.mark.parametrize("error", [ValueError("n_features=9"), OSError("disk"), RuntimeError("no source")])
def test_what_a_user_can_mend_is_one_line(error, monkeypatch):
    monkeypatch.delenv("SKEM_TRACEBACK", raising=False)
    with pytest.raises(SystemExit) as caught, plain_errors():
        raise error
    assert caught.value.code == f"error: {error}"
    monkeypatch.setenv("SKEM_TRACEBACK", "1")
    with pytest.raises(type(error)), plain_errors():
        raise error


def test_a_bug_keeps_its_traceback():
    with pytest.raises(KeyError), plain_errors():
        raise KeyError("a bug")


@pytest.mark.parametrize("size", [0, 3])
@pytest.mark.parametrize(
    ("suffix", "write", "content", "read"),
    [
        ("json", files.write_json, {"a": 1}, files.read_json),
        ("csv", files.write_table, [{"a": 1}], files.read_table),
        ("npz", files.write_arrays, {"a": np.zeros(3)}, files.read_arrays),
    ],
)
def test_an_empty_or_truncated_file_is_named_with_the_way_out(tmp_path, suffix, write, content, read, size):
    path = tmp_path / f"a.{suffix}"
    write(path, content)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ValueError, match=rf"a\.{suffix} is damaged .*: delete it"):
        read(path)
