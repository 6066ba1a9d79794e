"""Outcomes of the regression test on synthetic measurements, and a planted slowdown."""

import subprocess

import gate_mutations
import numpy as np
import pandas as pd
import pytest
from checkouts import ROOT, needs_git

from skem.repro.gate import comparison, report, revisions, timing, worker
from skem.repro.gate.comparison import compare_accuracies, compare_times, failed

RNG = np.random.default_rng(0)
VALUES = {
    "final_iteration": (0.97 + 0.0007 * RNG.standard_normal(10)).tolist(),
    "log_likelihood": (-44.4 + 0.02 * RNG.standard_normal(10)).tolist(),
    "iterations": [12.0] * 10,
    "temperature": [2.0] * 10,
    "log_loss": [0.3] * 10,
}


def outcome(quantity, values, same_platform=True, roundings=None):
    table = compare_accuracies(
        {"case": VALUES}, {"case": VALUES | {quantity: values}}, same_platform, roundings
    )
    found = table.set_index("quantity").loc[quantity, "outcome"]
    assert failed(table) == (found not in ("same", "changed", "flipped"))
    return found


@pytest.mark.parametrize("same_platform", [True, False])
def test_a_third_of_a_point_of_accuracy_is_noticed_on_any_platform(same_platform):
    accuracies = VALUES["final_iteration"]
    assert outcome("final_iteration", accuracies, same_platform) == "same"
    assert outcome("final_iteration", [x - 0.003 for x in accuracies], same_platform) == "differs"
    assert outcome("final_iteration", [x + 0.003 for x in accuracies], same_platform) == "differs"


def test_the_last_bit_counts_on_the_platform_of_the_reference_only():
    values = [*VALUES["log_likelihood"][:-1], np.nextafter(VALUES["log_likelihood"][-1], -np.inf)]
    assert outcome("log_likelihood", values) == "differs"
    assert outcome("log_likelihood", values, same_platform=False) == "same"
    assert outcome("iterations", [11.0, 13.0] + [12.0] * 8) == "changed"  # with the same mean


def test_rounding_flips_a_decision_in_some_runs_on_another_platform_only():
    values = [13.0, 13.0] + [12.0] * 8
    assert outcome("iterations", values, same_platform=False) == "flipped"
    assert outcome("iterations", values) == "differs"
    assert outcome("iterations", [13.0] * 10, same_platform=False) == "differs"
    # Of this case the rounding between platforms was measured.
    measured = {"case": {"iterations": 1.0}}
    assert outcome("iterations", [13.0] * 10, same_platform=False, roundings=measured) == "flipped"
    assert outcome("iterations", [15.0] * 10, same_platform=False, roundings=measured) == "differs"


def test_cases_of_one_side():
    both, one = {"a": VALUES, "b": VALUES}, {"a": VALUES}
    new, lost = compare_accuracies(one, both, True), compare_accuracies(both, one, True)
    assert (new["outcome"].iloc[-1], failed(new)) == ("new", True)
    assert (lost["outcome"].iloc[-1], failed(lost)) == ("not measured", True)
    assert "snakemake regress_update" in report.summary(lost)
    with pytest.raises(ValueError, match=r"9 runs, but the reference has 10.*regress_update"):
        outcome("iterations", [12.0] * 9)


def times(head=1.0, noise=0.05, control=1.0, seed=0):
    """Synthetic times: 4 rounds of 4 pairs; processes differ by 3%, and times by more, as on a busy machine."""
    rng, rows = np.random.default_rng(seed), []
    for r in range(4):
        factors = np.array([1.0, head, control]) * np.exp(0.03 * rng.standard_normal(3))
        for p in range(4):
            machine = np.exp(0.1 * rng.standard_normal())  # shared by a pair
            seconds = machine * factors * np.exp(noise * rng.standard_normal(3))
            rows += [(r, p, "A", *pair) for pair in zip(("base", "head", "control"), seconds, strict=True)]
    return pd.DataFrame(rows, columns=["round", "pair", "case", "side", "seconds"])


def outcomes(**options):
    return [compare_times(times(seed=seed, **options))["outcome"][0] for seed in range(20)]


def test_fifteen_percent_more_time_is_never_the_same():
    for noise in (0.01, 0.05, 0.2):
        found = outcomes(head=1.15, noise=noise)
        assert found.count("same") <= 1
        assert noise > 0.05 or found.count("slower") >= 10


def test_equal_code_is_the_same_or_not_decided():
    quiet, busy = outcomes(noise=0.01), outcomes(noise=0.2)
    assert "slower" not in {*quiet, *busy}
    assert quiet.count("same") >= 15
    assert [compare_times(times(head))["outcome"][0] for head in (0.7, 1.3)] == ["faster", "slower"]


DESKEW = """
from time import process_time

class Deskew:
    def fit(self, X):
        return self

    def transform(self, X):
        end = process_time() + {seconds}
        while process_time() < end:
            pass
"""


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A git checkout with one commit of a library that has only the timed case "deskew"."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "skem").mkdir()
    (tmp_path / "skem/__init__.py").touch()
    (tmp_path / "skem/images.py").write_text(DESKEW.format(seconds=0.02))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command], check=True)
    monkeypatch.setattr(worker, "CASES", {"deskew": worker.CASES["deskew"]})
    return tmp_path


@needs_git
def test_checkouts_are_timed_in_turns(checkout, monkeypatch):
    (checkout / "skem/images.py").write_text(DESKEW.format(seconds=0.04))
    monkeypatch.setattr(comparison, "compare_times", lambda times: pd.DataFrame({"case": [], "outcome": []}))
    seconds = timing.measure("HEAD", rounds=1, pairs=2, minutes=0).groupby("side")["seconds"].median()
    assert seconds["head"] > 1.5 * seconds[["base", "control"]].max()
    (checkout / "skem/images.py").write_text("")
    with pytest.raises(RuntimeError, match="deskew cannot be timed"):
        timing.measure("HEAD", rounds=1, pairs=2, minutes=0)


@needs_git
def test_revisions(checkout):
    assert revisions.base(None, "no reference") is None
    assert len(revisions.base("HEAD", "no reference")) == 40
    with pytest.raises(ValueError, match="base=nowhere is not a revision of this git checkout; git fetch it"):
        revisions.base("nowhere", "no reference")
    revisions.raise_if_uncommitted()
    revisions.raise_if_code_differs("HEAD")
    (checkout / "skem/images.py").write_text("")
    with pytest.raises(ValueError, match=r"skem or config differs.*regress_update"):
        revisions.raise_if_code_differs("HEAD")
    (checkout / "skem/images.py").write_text(DESKEW.format(seconds=0.02))
    (checkout / "new.py").touch()
    with pytest.raises(ValueError, match=r"uncommitted changes in new\.py: commit them first"):
        revisions.raise_if_uncommitted()


def test_planted_faults_apply_to_the_code():
    """tests/gate_mutations.py takes half an hour, before a release; code that moved is noticed earlier."""
    for _, path, old, _ in [*gate_mutations.MUTATIONS, gate_mutations.SLOWED]:
        assert (ROOT / "skem" / path).read_text(encoding="utf-8").count(old) == 1, (path, old)
