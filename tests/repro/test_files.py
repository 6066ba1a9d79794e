"""Files: every digit comes back, a file is complete or absent, nothing is unpickled."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skem.repro import files
from skem.repro.files import (
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
@given(st.lists(FLOATS, min_size=1, max_size=10))
def test_floats_come_back_exactly(tmp_path, values):
    """Also the missing ones of a table with one column, whose lines are empty then."""
    write_table(tmp_path / "t.csv", [{"seconds": value} for value in values])
    np.testing.assert_array_equal(read_table(tmp_path / "t.csv")["seconds"].to_numpy(dtype=float), values)
    write_arrays(tmp_path / "a.npz", {"X": np.array(values), "n": np.arange(3, dtype="int16")})
    back = read_arrays(tmp_path / "a.npz")
    assert {name: (array.dtype.name, array.size) for name, array in back.items()} == {
        "X": ("float64", len(values)),
        "n": ("int16", 3),
    }
    assert back["X"].tobytes() == np.array(values).tobytes()


def test_integers_stay_integers_and_bools_stay_bools(tmp_path):
    write_table(tmp_path / "t.csv", [{"run": 0, "n": 2**53 + 1, "chosen": True}])
    row = read_table(tmp_path / "t.csv").iloc[0]
    assert (row["run"], row["n"], row["chosen"]) == (0, 2**53 + 1, True)


@pytest.mark.parametrize("label", ["1e-3", "007", "NA", "nan", "true", 'a, "b"', "Grüße"])
def test_a_setting_keeps_its_name(tmp_path, label):
    """The schema allows such names of settings; a table that lost them would find no rows."""
    write_table(tmp_path / "t.csv", [{"dataset": "rice", "method": "skem", "setting": label, "run": 0}])
    assert read_table(tmp_path / "t.csv")["setting"].tolist() == [label]


def test_equal_tables_are_equal_bytes_on_every_system(tmp_path):
    write_table(tmp_path / "t.csv", pd.DataFrame({"x": [0.1, np.nan], "y": [1, 2]}))
    assert (tmp_path / "t.csv").read_bytes() == b"x,y\n0.10000000000000001,1\n,2\n"
    write_json(tmp_path / "r.json", {"b": 1, "a": "Ünal, 2019"})
    assert (tmp_path / "r.json").read_bytes() == '{\n  "a": "Ünal, 2019",\n  "b": 1\n}\n'.encode()


@pytest.mark.parametrize("table", [pd.DataFrame(), pd.DataFrame(columns=["run", "pass"])])
def test_tables_without_rows(tmp_path, table):
    write_table(tmp_path / "t.csv", table)
    back = read_table(tmp_path / "t.csv")
    assert (len(back), list(back)) == (0, list(table))


class Bomb:
    def __reduce__(self):
        return (os.mkdir, ("exploded",))


def test_pickled_objects_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("a.npz", X=np.array([Bomb()], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle"):
        read_arrays("a.npz")
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), OSError(28, "No space left")])
def test_a_failing_save_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "t.csv"
    write_text(path, "old\n")

    def save(file):
        file.write(b"half of the n")
        raise error

    with pytest.raises(type(error)) as caught:
        write(path, save)
    if isinstance(error, OSError):
        assert caught.value.filename == str(path)
    assert path.read_text() == "old\n"
    assert os.listdir(tmp_path) == ["t.csv"]


KILLED = """
import os, signal, sys
from skem.repro.files import write
def save(file):
    file.write(b"half of the n")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
write(sys.argv[1], save)
"""


def test_a_killed_process_leaves_the_old_file_and_the_next_one_tidies_up(tmp_path):
    path = tmp_path / "t.csv"
    write_text(path, "old\n")
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], capture_output=True, check=False)
    assert done.returncode < 0, done.stderr
    assert path.read_text() == "old\n"
    write_text(path, "new\n")
    assert path.read_text() == "new\n"
    assert os.listdir(tmp_path) == ["t.csv"]


def test_a_folder_that_cannot_be_made_is_an_os_error(tmp_path):
    (tmp_path / "results").write_text("a file where a folder should be")
    with pytest.raises(OSError, match="results"):
        write_text(tmp_path / "results" / "t.csv", "x\n")


@pytest.mark.parametrize("error", [ValueError("n_features=9"), OSError("disk"), RuntimeError("no source")])
def test_errors_that_a_user_can_mend_are_one_line(error, monkeypatch):
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
