"""Titsias and Likas (2001): verdicts on synthetic results, jobs on few samples, tables and examples."""

import numpy as np
import pandas as pd
import pytest
from claims import BY_ID, ROOT, STATED, evaluate

from skem import datasets
from skem.repro import papers
from skem.repro.ledger import summary
from skem.repro.ledger.estimates import NotRun
from skem.repro.ledger.interpretations import Interpretation, survey
from skem.repro.papers.titsias2001 import errors, examples, figures, tables
from skem.repro.papers.titsias2001.evidence import Evidence
from skem.repro.training.splits import _table_trials

CELLS = tables.cells(STATED)
PAPER = papers.settings("titsias2001", ROOT / "config")
OWN = STATED[STATED["paper"] == "titsias2001"]
ENDS = {
    d: abs(np.subtract(*(own.loc[own["method"] == m, "paper"].mean() for m in ("lambda000", "lambda100"))))
    for d, own in CELLS.groupby("dataset")
}
"""Differences of the paper's lambda = 0 and 1, by table."""


def lambda_of(method):
    return int(method.removeprefix("lambda")) / 100 if method.startswith("lambda") else 0.5


def fold_errors(error=None, shift=0.0, spread=0.3, runs=5):
    """Errors of every fold, as printed or from a function of data set and method, plus noise."""
    rng, rows = np.random.default_rng(0), []
    for cell in CELLS[CELLS["dataset"] != "clouds"].to_dict("records"):
        row = {name: cell[name] for name in ("dataset", "method", "n_components")}
        row |= {"n_test": datasets.shape(cell["dataset"])[0] // 5, "shared": lambda_of(cell["method"])}
        row |= {"own_group": 0.95, "seconds": 5.0 if cell["method"] == "averaging" else 1.0}
        value = cell["paper"] + shift if error is None else 20 + error(cell["dataset"], cell["method"])
        rows += [
            row | {"run": run, "fold": fold, "error": value + rng.normal(0, spread)}
            for run in range(runs)
            for fold in range(5)
        ]
    table = pd.DataFrame(rows)
    other = {"pima": "pima_raw", "satimage": "satimage_whole"}
    raw = table[table["dataset"] == "satimage"]
    raw = raw.assign(dataset="satimage_raw", error=raw["error"] + 2)
    others = table[table["dataset"].isin(other)]
    return pd.concat([table, others.assign(dataset=others["dataset"].map(other)), raw], ignore_index=True)


def evidence(table=None, measured=None):
    found = pd.DataFrame() if table is None else table
    values = tables.values({"errors": found, "examples": pd.DataFrame() if measured is None else measured})
    return Evidence(values, PAPER, STATED)


def verdicts(claims, found):
    return summary.ledger(claims, lambda claim, _: evaluate(found, claim))[0].set_index("id")


def test_the_papers_own_numbers_are_reproduced():
    table = verdicts(OWN, evidence(fold_errors(spread=1e-3)))
    cells = table[table.index.isin(CELLS["id"]) & ~table.index.str.contains("clouds")]
    assert set(cells["verdict"]) == {"reproduced"}
    expected = {
        "sec4.pima.rbf_better": "holds",
        "sec4.averaging_best": "holds",
        "sec4.averaging_best.pima": "fails",
        "sec4.ionosphere.lambda_beats_rbf": "fails",
        "sec4.phoneme.lambda_beats_rbf": "holds",
        "sec4.no_winner_0_or_1": "not testable",  # it takes clouds
        "sec4.satimage.projection": "holds",
        "sec3.sharing_control": "holds",
        "sec4.averaging_cost": "holds",
        "sec5.depends_on_lambda": "holds",
    }
    found = table["verdict"].rename(lambda id: id.removeprefix("titsias."))
    assert found[list(expected)].to_dict() == expected


@pytest.mark.parametrize(
    ("changed", "expected"),
    [({"shift": 3.0}, {"worse"}), ({"shift": -3.0}, {"better"}), ({"spread": 15.0, "runs": 4}, None)],
)
def test_cells_of_other_errors(changed, expected):
    table = verdicts(OWN[OWN["id"].isin(CELLS.loc[CELLS["dataset"] == "pima", "id"])], evidence(fold_errors(**changed)))  # fmt: skip
    if expected is None:  # intervals wider than the differences of a column
        assert set(table["verdict"]) <= {"too few runs", "not testable", "better", "worse"}
        assert table["remark"].str.contains("spread pooled over 35 results, all of the table").any()
    else:
        assert set(table["verdict"]) == expected


def of_lambda(f, other=lambda d: 1.0):
    return lambda d, method: f(d, lambda_of(method)) if method.startswith("lambda") else other(d)


@pytest.mark.parametrize(
    ("error", "depends", "intermediate"),
    [
        # The best lambda is 0 on one table, 1 on another, in the middle elsewhere.
        (lambda d, lam: 5 * abs(lam - {"pima": 0, "phoneme": 1}.get(d, 0.5)), "holds", "holds"),
        # The same with smaller differences than between the paper's own ends of lambda on Pima.
        (lambda d, lam: abs(lam - {"pima": 0, "phoneme": 1}.get(d, 0.5)), "fails", "holds"),
        (lambda d, lam: ENDS[d] * abs(lam - (d == "pima")), "undecided", "fails"),
        (lambda d, lam: 5 * lam, "fails", "fails"),  # one lambda is best everywhere
    ],
)
def test_dependence_on_lambda(error, depends, intermediate):
    found = evidence(fold_errors(of_lambda(error), spread=0.05, runs=8))
    assert evaluate(found, "titsias.sec5.depends_on_lambda").verdict == depends
    assert evaluate(found, "titsias.sec4.intermediate_lambda").verdict == intermediate


@pytest.mark.parametrize(("average", "expected"), [(-1.0, "holds"), (1.0, "fails"), (0.0, "undecided")])
def test_averaging_helps_on_one_table(average, expected):
    error = of_lambda(lambda d, lam: 0.0, lambda d: average if d == "phoneme" else 1.0)
    found = evidence(fold_errors(error, spread=0.05, runs=25))
    assert evaluate(found, "titsias.sec3b.averaging_helps").verdict == expected


def test_scaling_of_pima_is_an_interpretation():
    table = fold_errors()
    found = evidence(table.assign(error=table["error"] + 9 * (table["dataset"] == "pima_raw")))
    pima = {"pima": papers.ambiguities("titsias2001", STATED, PAPER, ROOT / "config")["pima"]}
    claim = BY_ID["titsias.table3.pima.lambda050.m6"]
    surveyed, depends_on = survey(
        claim, pima, lambda interpretation: evaluate(found.under(interpretation), claim)
    )
    assert [one.evaluation.verdict for one in surveyed] == ["worse", "reproduced"]
    assert depends_on == "the scaling of Pima"


def test_features_of_satimage_show_in_the_errors():
    table = fold_errors(spread=0.1)
    swapped = table["dataset"].replace(
        {"satimage": "satimage_raw", "satimage_raw": "satimage", "satimage_whole": "none"}
    )
    swapped = table.assign(dataset=swapped)
    worse = swapped[swapped["dataset"] == "satimage"].assign(dataset="satimage_whole")
    for content, expected in ((table, "holds"), (pd.concat([swapped, worse]), "fails")):
        assert evaluate(evidence(content), "titsias.sec4.satimage.projection").verdict == expected


def test_missing_runs():
    table = verdicts(OWN, evidence())
    missing = table[table.index.str.contains("table2|fig3_prbf|averaging_best.pima")]
    assert missing["remark"].str.contains("add the target titsias").all()
    clouds = table[table.index.str.contains("clouds") & (table["external"] == "no")]
    assert clouds["remark"].str.contains("clouds is not available").all()


def test_cells_that_the_configuration_leaves_out():
    changes = {"tables": {"pima": {"n_components": [6]}, "pima_raw": {"n_components": [6]}}}
    paper = papers.settings("titsias2001", ROOT / "config", changes)
    table = fold_errors()
    found = evidence(table[(table["n_components"] == 6) & (table["dataset"] == "pima")])
    found = Evidence(found.values, paper, STATED)
    assert evaluate(found, "titsias.table3.pima.lambda050.m6").verdict == "reproduced"
    with pytest.raises(NotRun, match="lambda050 with 14 components on pima was not part of this run"):
        evaluate(found, "titsias.table3.pima.lambda050.m14")


def example(figure, **models):
    """Runs of one example: by model, a column and its mean or values."""
    rng = np.random.default_rng(2)
    return pd.DataFrame(
        {"figure": figure, "model": model, "run": run, column: value}
        for model, (column, values) in models.items()
        for run, value in enumerate(np.broadcast_to(values, 100) + rng.normal(0, 1e-3, 100))
    )


@pytest.mark.parametrize(("same", "expected"), [(86, "holds"), (59, "undecided"), (30, "fails")])
def test_most_fits_of_figure_3_are_the_same(same, expected):
    apart = np.where(np.arange(100) < same, 0.01, 1.5)
    found = evidence(measured=example("figure3", shared=("apart", apart)))
    assert evaluate(found, "titsias.sec2d.fig3_same_as_separate").verdict == expected


@pytest.mark.parametrize(
    ("four", "two", "expected"),
    [
        (-2.85, -3.7, "reproduced"),
        (-3.2, -3.7, "higher"),
        (-2.5, -3.7, "lower"),
        (-2.85, -2.86, "lower"),
        (-2.90, -3.7, "undecided"),
    ],
)
def test_number_of_separate_components_in_figure_4(four, two, expected):
    models = {"shared": -2.85, "separate": two, "separate, 4 kernels": four}
    found = evidence(measured=example("figure4", **{k: ("log_likelihood", v) for k, v in models.items()}))
    assert evaluate(found, "titsias.sec2d.fig4_n_kernels").verdict == expected


def test_examples_are_as_the_paper_describes_them():
    made = examples.examples({"repetitions": 6, "n_rows": 300, "drawn_rows": 100}, 1)
    found = evidence(measured=pd.DataFrame(made["measured"]))
    for name in ("sec2c.fig3_supervised", "sec2c.fig3_prbf_better", "sec2d.fig4_prbf_better"):
        assert evaluate(found, f"titsias.{name}").verdict == "holds", name
    for choice, expected in (("likelihood", "fails"), ("error", "holds")):
        own = found.under(Interpretation({"measure": choice}))
        assert evaluate(own, "titsias.sec2d.fig5_separate_better").verdict == expected
    panels = figures.FIGURES["titsias_figures3to5"].rows({"panels": pd.DataFrame(made["panels"])}, PAPER)
    components = panels[panels["radius"].notna()]
    assert (components.groupby("panel").size() == 2).all()
    separate = components[components["panel"].str.contains("one kernel per class")]
    assert sorted(separate["class"]) == [0, 0, 1, 1]


def test_kernels_are_multiples_of_classes():
    for cell in CELLS.to_dict("records"):
        n_classes = {"clouds": 2}.get(cell["dataset"]) or datasets.describe(cell["dataset"])["n_classes"]
        assert cell["n_components"] % n_classes == 0
        assert cell["n_components"] in PAPER.tables[cell["dataset"]]["n_components"]


def test_tables():
    near, far = (tables.summary(fold_errors(shift=shift), CELLS, PAPER) for shift in (0.0, 1.0))
    text = tables.to_markdown(near, PAPER)
    assert "## Table I: Clouds" in text
    assert "Not available: the server of the ELENA project is gone" in text
    assert near.loc[near["dataset"] == "clouds", "error"].isna().all()
    assert near.loc[near["dataset"].isin(PAPER.evaluated), "within"].all()
    # A standard deviation of the paper below that of counting errors matters only with that allowance.
    phoneme = far[far["dataset"] == "phoneme"].astype({"within": bool, "within_counting": bool})
    small = phoneme["paper_std"] < phoneme["counting_std"]
    assert phoneme["within_counting"].sum() > phoneme["within"].sum()
    assert (phoneme["within"] == phoneme["within_counting"])[~small].all()


def test_errors_and_selection_of_lambda():
    rng, y = np.random.default_rng(0), np.arange(240) % 3
    X = rng.normal(size=(240, 4)) + 2.5 * np.eye(3, 4)[y]
    spec = {"folds": "stratified", "n_folds": 3, "scale": "discriminant"}
    trial = next(iter(_table_trials("blobs", spec, {"X": X, "y": y}, ["all"], [0], 1)))
    # Discriminant scores have unit variance within the classes of the training samples alone.
    centred = trial.X_train - np.stack([trial.X_train[trial.y_train == c].mean(axis=0) for c in range(3)])[trial.y_train]  # fmt: skip
    np.testing.assert_allclose(centred.T @ centred / len(centred), np.eye(2), atol=1e-8)
    setup = {"sharings": (0.0, 1.0), "model": PAPER.model | {"max_iter": 20}, "validation_fraction": 0.3}
    rows = errors.fit_errors(trial, 6, setup["sharings"], setup["model"], 0)
    assert [row["method"] for row in rows] == ["rbf", "lambda000", "lambda100", "averaging"]
    assert all(0 <= row["error"] <= 20 for row in rows)
    assert (rows[1]["own_group"], rows[1]["shared"]) == (pytest.approx(1.0), 0)
    rows += errors.choice_errors(trial, 6, setup, 0)
    table = pd.DataFrame([row | {"dataset": "blobs", "run": run} for run in (0, 1) for row in rows])
    assert "chosen per pair" in tables.choice_markdown(tables.choice_table(table), PAPER)
