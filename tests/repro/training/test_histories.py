"""Fits that fail."""

import pandas as pd
import pytest

from skem.repro.training.histories import Histories, split_failures


def test_a_failure_is_a_row_and_a_full_disk_is_not(capsys):
    def fails(error):
        raise error

    keys, found = {"dataset": "rice", "method": "lda"}, Histories()
    found.attempt(keys, lambda: Histories([keys | {"iteration": 1}]))
    found.attempt(keys, lambda: fails(ValueError("no\n  such   solver")))
    assert found.history == [keys | {"iteration": 1}, keys | {"error": "ValueError: no such solver"}]
    assert "rice lda failed, and is left out: ValueError: no such solver" in capsys.readouterr().err
    for error in (OSError(28, "No space left on device"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            found.attempt(keys, lambda error=error: fails(error))


def test_a_setting_that_failed_in_some_runs_is_left_out_as_a_whole():
    first = pd.DataFrame({"dataset": "rice", "method": "skem", "setting": ["K2", "K4"], "run": 0})
    second = first.assign(run=1, error=[None, "ValueError: no"])
    history, seconds, failures = split_failures([first, second], [first])
    assert pd.concat(history)[["setting", "run"]].to_numpy().tolist() == [["K2", 0], ["K2", 1]]
    assert not any("error" in table for table in history)
    assert seconds[0]["setting"].tolist() == ["K2"]
    assert failures.to_dict("records") == [
        {"dataset": "rice", "method": "skem", "setting": "K4", "error": "ValueError: no"}
    ]
    assert not len(split_failures([first], [first])[2])
