"""The gate's decisions, on recorded and made-up measurements."""

import json
import re
import subprocess
import sys

import numba
import numpy as np
import pandas as pd
import pytest
from checkouts import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from skem import plots
from skem.repro import environment
from skem.repro.gate import comparison, revisions, verdicts
from skem.repro.gate.comparison import RegressionError, compare_accuracy, compare_rates, compare_times

RNG = np.random.default_rng(0)
REFERENCE = {
    "digits/pskem/3x12": {
        "last-pass": (0.97 + 0.0007 * RNG.standard_normal(10)).tolist(),
        "log_likelihood": (-44.4 + 0.02 * RNG.standard_normal(10)).tolist(),
        "passes": [12.0] * 10,
    }
}


def shifted(quantity, by):
    own = {name: list(values) for name, values in REFERENCE["digits/pskem/3x12"].items()}
    own[quantity] = [value + by for value in own[quantity]]
    return {"digits/pskem/3x12": own}


def verdict(table, quantity):
    return table.set_index("quantity").loc[quantity, "verdict"]


@pytest.mark.parametrize("same_platform", [True, False])
def test_what_is_the_same_passes(same_platform):
    table = compare_accuracy(REFERENCE, REFERENCE, same_platform)
    assert set(table["verdict"]) == {"same"}
    assert not verdicts.failed(table)
    assert "Nothing got worse." in verdicts.summary(table)


@pytest.mark.parametrize("same_platform", [True, False])
def test_a_third_of_a_point_is_caught_on_any_platform(same_platform):
    table = compare_accuracy(REFERENCE, shifted("last-pass", -0.003), same_platform)
    assert verdict(table, "last-pass") == "worse"
    assert verdicts.failed(table)
    text = verdicts.summary(table)
    assert "digits/pskem/3x12" in text
    assert "regress_update" in text


def test_the_last_bit_counts_on_the_platform_of_the_reference_only():
    one_ulp = {"digits/pskem/3x12": {k: list(v) for k, v in REFERENCE["digits/pskem/3x12"].items()}}
    values = one_ulp["digits/pskem/3x12"]["log_likelihood"]
    values[3] = float(np.nextafter(values[3], -np.inf))
    assert verdict(compare_accuracy(REFERENCE, one_ulp, True), "log_likelihood") == "worse"
    assert verdict(compare_accuracy(REFERENCE, one_ulp, False), "log_likelihood") == "same"


def test_bits_are_compared_where_numba_compiles_alike_only(monkeypatch):
    """A fit has other bits for an Intel Xeon than for an AMD EPYC with the same instructions."""
    machine, platforms = environment.describe(), []
    for processor in ("znver4", "znver5", "skylake-avx512"):
        monkeypatch.setattr(numba.config, "CPU_NAME", processor)
        platforms.append(comparison.platform_of(machine))
    assert platforms[0] == platforms[1] != platforms[2]


def test_better_is_told_and_passes():
    table = compare_accuracy(REFERENCE, shifted("last-pass", 0.003), False)
    assert verdict(table, "last-pass") == "better"
    assert not verdicts.failed(table)
    assert "regress_update" in verdicts.summary(table)


def test_more_passes_are_worse():
    assert verdict(compare_accuracy(REFERENCE, shifted("passes", 1.0), False), "passes") == "worse"
    assert verdict(compare_accuracy(REFERENCE, shifted("passes", -1.0), False), "passes") == "better"


def test_a_quantity_without_a_direction_fails_on_any_change():
    before = {"digits/search": {"n_components": [8.0] * 5, "inertia": [10.0] * 5}}
    after = {"digits/search": {"n_components": [8.0] * 4 + [16.0], "inertia": [9.0] * 5}}
    table = compare_accuracy(before, after, True)
    assert verdict(table, "n_components") == "differs"
    assert verdict(table, "inertia") == "better"
    assert verdicts.failed(table)


def test_cases_that_only_one_side_has():
    new = REFERENCE | {"digits/mda": {"last-pass": [0.9] * 10}}
    assert verdict(compare_accuracy(REFERENCE, new, True).tail(1), "last-pass") == "new"
    assert not verdicts.failed(compare_accuracy(REFERENCE, new, True))
    vanished = compare_accuracy(new, REFERENCE, True)
    assert verdict(vanished.tail(1), "last-pass") == "not measured"
    assert verdicts.failed(vanished)
    assert "no longer measured" in verdicts.summary(vanished)
    with pytest.raises(RegressionError, match=r"9 runs, the reference has 10.*regress_update"):
        compare_accuracy(REFERENCE, {"digits/pskem/3x12": {"last-pass": [0.97] * 9}}, True)


def test_starts_drawn_anew_raise_no_alarm():
    """On another platform: 200 tables of 20 cases, each with runs from the distribution of the reference."""
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(200):
        a, b = (
            {f"d/{i}": {"last-pass": rng.normal(0.9, 0.01, 10).tolist()} for i in range(20)} for _ in "ab"
        )
        alarms += verdicts.failed(compare_accuracy(a, b, False))
    assert alarms <= 8  # 1% of 200 expected at most; 8 or more have probability .001


def times(slowdown=1.0, noise=0.02, control=1.0, rounds=5, pairs=5, seed=0, process=0.005, case="A"):
    rng = np.random.default_rng(seed)
    rows = []
    for r in range(rounds):
        own = {side: np.exp(process * rng.standard_normal()) for side in ("base", "head", "control")}
        for p in range(pairs):
            pace = np.exp(0.1 * rng.standard_normal())  # of the machine, shared by a pair
            for side, factor in (("base", 1.0), ("head", slowdown), ("control", control)):
                seconds = 0.1 * pace * factor * own[side] * np.exp(noise * rng.standard_normal())
                rows.append({"round": r, "pair": p, "case": case, "side": side, "seconds": seconds})
    return pd.DataFrame(rows)


@pytest.mark.parametrize("seed", range(5))
def test_fifteen_percent_are_caught(seed):
    table = compare_times(times(1.15, seed=seed))
    assert table["verdict"].tolist() == ["slower"]
    assert table["change"][0] == pytest.approx(0.15, abs=0.03)
    assert verdicts.failed(table)


def test_fifteen_percent_are_caught_on_a_machine_at_work():
    """As measured on a shared machine: processes differ by 3%, passes by 5%; as many pairs as the gate has."""
    found = [
        compare_times(times(1.15, 0.05, rounds=4, pairs=4, process=0.03, seed=seed))["verdict"][0]
        for seed in range(40)
    ]
    assert found.count("slower") >= 30
    equal = [
        compare_times(times(1.0, 0.05, rounds=4, pairs=4, process=0.03, seed=seed))["verdict"][0]
        for seed in range(40)
    ]
    assert equal.count("slower") <= 1


def test_equal_code_is_let_pass_on_quiet_and_on_loaded_machines():
    for noise in (0.01, 0.05, 0.2):
        verdicts = [compare_times(times(noise=noise, seed=seed))["verdict"][0] for seed in range(40)]
        assert verdicts.count("slower") <= 1, noise


def test_faster_is_told():
    assert compare_times(times(0.8))["verdict"][0] == "faster"


def test_a_control_that_differs_from_its_equal_decides_nothing():
    table = compare_times(times(1.15, control=1.3))
    assert table["verdict"][0] == "inconclusive"
    assert not verdicts.failed(table)


def test_whole_processes_only_warn():
    own = times(1.5, case=comparison.IMPORT)
    table = compare_times(own[own["side"] != "control"], [comparison.IMPORT])
    assert table["verdict"][0] == "slower (warning)"
    assert not verdicts.failed(table)


@settings(max_examples=25, deadline=None)
@given(st.floats(0.2, 5), st.integers(0, 100))
def test_the_interval_scales_with_the_values(factor, seed):
    values = [np.random.default_rng(seed + i).lognormal(size=6) for i in range(4)]
    a = comparison.interval_of_median(values)
    b = comparison.interval_of_median([factor * v for v in values])
    assert a[1] <= a[0] <= a[2]
    np.testing.assert_allclose(np.array(a) * factor, b)


@pytest.mark.parametrize("judge", [compare_times, comparison.rates])
@pytest.mark.parametrize(
    ("lost", "words"),
    [
        ("side == 'head' and round == 2 and pair == 3", "A: 1 of 25 times of head are missing.*again"),
        ("side == 'base' and round == 1", "A: 5 of 25 times of base"),
        ("round == 1 and pair == 0", "A: 1 of 25 times of base"),
        ("side == 'head'", "A: 25 of 25 times of head"),
    ],
)
def test_times_that_are_missing_are_no_verdict(judge, lost, words):
    table = times(1.0)
    with pytest.raises(RegressionError, match=words):
        judge(table.drop(table.query(lost).index))


def test_rates_are_medians_of_each_process():
    table = times(1.0)
    table.loc[table["side"] == "head", "seconds"] = 0.3
    table.loc[table["side"] == "base", "seconds"] = 0.1
    assert comparison.rates(table[table["side"] != "control"]) == {"A": pytest.approx([3.0] * 5)}


def test_rates_are_judged_on_the_machine_of_the_reference_only():
    before = {"A": [7.0, 7.1, 7.2, 7.05, 7.1, 7.3, 7.0, 7.1]}
    assert compare_rates(before, {"A": [8.1, 8.2, 8.0]}, True)["verdict"][0] == "slower (warning)"
    assert not verdicts.failed(compare_rates(before, {"A": [8.1, 8.2, 8.0]}, True))
    assert compare_rates(before, {"A": [8.1, 7.25, 8.0]}, True)["verdict"][0] == "same"
    assert compare_rates(before, {"A": [6.1, 6.2, 6.0]}, True)["verdict"][0] == "faster"
    assert compare_rates(before, {"A": [8.1, 8.2, 8.0]}, False)["verdict"][0] == "not judged"
    assert compare_rates(before, {}, True)["verdict"][0] == "not measured"
    assert verdicts.failed(compare_rates(before, {}, False))
    assert compare_rates({}, before, True)["verdict"][0] == "new"


def test_the_reference_that_is_missing_or_strange(tmp_path):
    path = tmp_path / "regress.json"
    with pytest.raises(RegressionError, match=r"no .*regress\.json.*regress_update"):
        comparison.read_reference(path)
    path.write_text("{")
    with pytest.raises(RegressionError, match="git checkout"):
        comparison.read_reference(path)
    path.write_text(json.dumps({"schema": 99}))
    with pytest.raises(RegressionError, match=r"layout 99.*regress_update"):
        comparison.read_reference(path)


def test_the_history_grows_and_is_drawn(tmp_path):
    table = compare_times(times(1.2))
    path = tmp_path / "history.csv"
    for day in ("2026-01-01", "2026-01-02"):
        history = verdicts.append_history(path, table, {"date": day, "commit": "abc"})
    assert history["date"].tolist() == ["2026-01-01", "2026-01-02"]
    assert history["verdict"].tolist() == ["slower", "slower"]
    ax = plots.regression_history(history, columns=1)
    assert ax.get_ylabel() == "change of time (%)"
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()] == ["A"]


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A git checkout with one commit."""
    root = tmp_path / "checkout"
    root.mkdir()
    monkeypatch.chdir(root)
    (root / "pyproject.toml").write_text('[project]\nname = "a"\ndependencies = ["numpy"]\n')
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command], check=True)
    return root


def test_a_base_revision_becomes_a_worktree(checkout):
    (checkout / "new.py").write_text("")
    assert revisions.changed_files() == ["new.py"]
    with pytest.raises(ValueError, match=r"uncommitted changes in new\.py: commit them first"):
        revisions.refuse_changes()
    assert revisions.is_here("HEAD")
    base = revisions.check_out("HEAD", "results/regress")
    assert base["commit"] == revisions.head()
    assert base["python"] == sys.executable
    assert not (checkout / base["path"] / "new.py").exists()
    assert revisions.check_out("HEAD", "results/regress") == base
    revisions.remove(base["path"])
    assert not (checkout / base["path"]).exists()


def test_a_base_that_is_not_there(checkout, tmp_path, monkeypatch):
    assert not revisions.is_here("nowhere")
    with pytest.raises(ValueError, match="base=nowhere: there is no such revision here; git fetch"):
        revisions.check_out("nowhere", "results/regress")
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert not revisions.is_here("main")
    with pytest.raises(ValueError, match="needs a git checkout"):
        revisions.check_out("main", "results/regress")


def test_the_faults_that_prove_the_gate_find_their_lines():
    """gate_proof.sh is long and run before a release only: code that moved under it has to show before."""
    proof = (ROOT / "tests/gate_proof.sh").read_text(encoding="utf-8")
    faults = re.findall(r"^replace (\S+) '([^']+)' \\\n +'([^']+)'", proof, re.MULTILINE)
    assert len(faults) == 2
    for path, line, _ in faults:
        assert (ROOT / path).read_text(encoding="utf-8").count(line) == 1
