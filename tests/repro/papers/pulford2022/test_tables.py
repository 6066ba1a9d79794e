"""Tables of what was tried, against numbers worked out by hand."""

import numpy as np
import pandas as pd
import pytest
from claims import ROOT, page
from histories import described, of_runs

from skem.metrics import operation_count
from skem.repro import papers
from skem.repro.papers.pulford2022 import figures, tables

PAPER = papers.settings("pulford2022", ROOT / "config")


def history(method, setting, by_run, dataset="mnist_half", rows="all", **more):
    found = of_runs(method, setting, by_run, dataset, rows=rows, **more)
    return found.assign(shared_proportion=0.5 / found["iteration"])


def test_curves_have_every_protocol_that_fits():
    table = tables.curves(
        pd.concat([
            history("sequential", "3x12-K8", [[0.8, 0.9, 0.85], [0.82, 0.94, 0.9]], validation=[0.1, 0.2, 0.9]),
            history("other", "3x12-K8", [[0.1]]),
        ]),
        ["sequential"],
    )  # fmt: skip
    accuracy = table.set_index("protocol")["accuracy"]
    assert accuracy.to_dict() == pytest.approx(
        {"test_selected_iteration": 92.0, "final_iteration": 87.5, "validation_selected_iteration": 87.5}
    )
    best = table.set_index("protocol").loc["test_selected_iteration"]
    assert best["sd"] == pytest.approx(np.std([90, 94], ddof=1))
    assert best["shared_proportion"] == pytest.approx(0.5 / 3)
    assert best["peak_iteration"] == 2
    assert best["shared_sd"] == 0


def test_the_audit_tells_protocols_apart_and_nests_within_folds():
    parts = []
    for scale, lift in (("none", 0.0), ("standard", 0.02)):
        name = f"1x7-stratified-{scale}-ridge0.1"
        how = {"n_folds": 2, "folds": "stratified", "scale": scale, "reg_covar": 0.1}
        parts.append(history("audit", name, [[0.8, 0.9 + lift], [0.8, 0.92 + lift]], "rice", **how))
        parts.append(
            history(
                "audit",
                name,
                [[0.85, 0.7], [0.85, 0.7]],
                "rice",
                validation=[0.5 + lift, 0.4],
                rows="part",
                **how,
            )
        )
    table = tables.audit(pd.concat(parts), ["audit"])
    own = table[table["scale"] == "standard"].set_index("protocol")["accuracy"]
    assert own["test_selected_iteration"] == pytest.approx(92.5)  # (92 + 91 + 94 + 93) / 4
    assert own["test_selected_fold"] == pytest.approx(93.0)
    assert own["final_iteration"] == pytest.approx(92.5)
    assert own["validation_selected_iteration"] == pytest.approx(84.5)
    nested = table[table["protocol"] == "nested"]
    assert len(nested) == 1
    assert nested["accuracy"].iloc[0] == pytest.approx(84.5)
    cells = tables.audit_cells(table, {"rice": 92.9}, PAPER)
    text = page("audit", {"cells": cells, "names": {"near": tables.NEAR}})
    assert "the paper prints 92.9%" in text
    assert "SKEM 1x7, K = 14" in text
    assert "**92.5 ± 1.4**" in text
    assert "**93.0 ± 1.4**" in text
    assert "**91" not in text
    assert "| stratified | none" in text.replace("  ", " ").replace("  ", " ")


def test_costs_beside_operations():
    seconds = {"3x12-K20": [0.1, 0.3, 0.2], "1x36-K20": [1.0, 1.0, 4.0]}
    timed = [pd.DataFrame({"setting": name, "seconds": s} | described(name)) for name, s in seconds.items()]
    table = figures.costs(pd.concat(timed), PAPER).set_index("partition")
    assert table["seconds"].to_dict() == {"3x12": pytest.approx(6.0), "1x36": pytest.approx(40.0)}
    assert table["operations"].to_dict() == {
        "3x12": operation_count(30, 20, 30_000, [12] * 3),
        "1x36": operation_count(40, 20, 30_000, 36),
    }
