"""Files: every digit comes back, a file is complete or absent, nothing is unpickled."""

import os
import signal
import sys

import numpy as np
import pytest

from skem.repro import files
from skem.repro.files import plain_errors, read_arrays, read_table, write, write_table, write_text

FLOATS = [
    0.1,
    -0.0,
    1 / 3,
    5e-324,
    1.7976931348623157e308,
    np.inf,
    -np.inf,
    np.nan,
    1e22,
    123456789.123456789,
]


def test_every_digit_comes_back(tmp_path):
    row = {"run": 0, "n": 2**53 + 1, "chosen": True, "setting": "1e-3"}
    write_table(tmp_path / "t.csv", [row | {"x": value} for value in FLOATS])
    back = read_table(tmp_path / "t.csv")
    np.testing.assert_array_equal(back["x"].to_numpy(), FLOATS)
    assert back.iloc[0][list(row)].to_dict() == row
    write_table(tmp_path / "t.csv", [{"x": np.nan}, {"x": 1.0}])  # a line is empty
    assert len(read_table(tmp_path / "t.csv")) == 2
    files.write_arrays(tmp_path / "a.npz", {"X": np.array(FLOATS), "n": np.arange(3, dtype="int16")})
    arrays = read_arrays(tmp_path / "a.npz")
    assert arrays["X"].tobytes() == np.array(FLOATS).tobytes()
    assert (arrays["n"].dtype.name, arrays["n"].tolist()) == ("int16", [0, 1, 2])


@pytest.mark.parametrize("label", ["007", "NA", "nan", "true", 'a, "b"', "Grüße"])
def test_a_setting_keeps_its_name(tmp_path, label):
    write_table(tmp_path / "t.csv", [{"dataset": "rice", "setting": label, "run": 0}])
    assert read_table(tmp_path / "t.csv")["setting"].tolist() == [label]


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), OSError(28, "No space left")])
def test_a_failing_save_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "t.csv"
    write_text(path, "old\n")

    def save(file):
        file.write(b"half of the n")
        raise error

    with pytest.raises(type(error)) as caught:
        write(path, save)
    assert not isinstance(error, OSError) or caught.value.filename == str(path)
    assert path.read_text() == "old\n"
    assert os.listdir(tmp_path) == ["t.csv"]


def test_a_killed_process_leaves_the_old_file_and_the_next_one_tidies_up(tmp_path):
    path = tmp_path / "t.csv"
    write_text(path, "old\n")
    child = os.fork()
    if not child:  # a process that is killed while it writes
        write(path, lambda file: (file.write(b"half"), file.flush(), os.kill(os.getpid(), signal.SIGKILL)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert path.read_text() == "old\n"
    write_text(path, "new\n")
    assert path.read_text() == "new\n"
    assert os.listdir(tmp_path) == ["t.csv"]


def test_errors_that_a_user_can_mend_are_one_line_and_bugs_keep_their_traceback(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.delenv("SKEM_TRACEBACK", raising=False)
    log = tmp_path / "job.log"

    def fails(error):
        with plain_errors([str(log)]):
            print("warning: slow", file=sys.stderr)
            raise error

    with pytest.raises(SystemExit, match=r"^error: n_features=9$"):
        fails(ValueError("n_features=9"))
    assert capsys.readouterr().err == "warning: slow\n"
    assert log.read_text().startswith("warning: slow\nTraceback")
    with pytest.raises(KeyError):
        fails(KeyError("a bug"))
    assert "a bug" in log.read_text()
    monkeypatch.setenv("SKEM_TRACEBACK", "1")
    with pytest.raises(OSError, match="disk"):
        fails(OSError("disk"))


@pytest.mark.parametrize("size", [0, 3])
@pytest.mark.parametrize(
    ("suffix", "write", "content", "read"),
    [
        ("json", files.write_json, {"a": 1}, files.read_json),
        ("csv", files.write_table, [{"a": 1}], files.read_table),
        ("npz", files.write_arrays, {"a": np.zeros(3)}, files.read_arrays),
    ],
)
def test_an_empty_or_truncated_file_is_named_with_the_fix(tmp_path, suffix, write, content, read, size):
    path = tmp_path / f"a.{suffix}"
    write(path, content)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ValueError, match=rf"a\.{suffix} is damaged .*: delete it"):
        read(path)
