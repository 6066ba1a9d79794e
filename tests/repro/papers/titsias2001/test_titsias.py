"""Titsias and Likas (2001): its tables, its examples, and the judge of its claims."""

import numpy as np
import pandas as pd
import pytest
from claims import ROOT, STATED

from skem import datasets
from skem.repro import papers
from skem.repro.ledger import summary
from skem.repro.ledger.readings import Reading, survey
from skem.repro.ledger.verdicts import VERDICTS
from skem.repro.papers.titsias2001 import errors, evidence, figures, judges, tables, values
from skem.repro.papers.titsias2001.examples import FIGURES, measure
from skem.repro.training.splits import _table_trials

CELLS = tables.cells(STATED)
PAPER = papers.settings("titsias2001", ROOT / "config")
ENDS = {
    d: abs(np.subtract(*(own.loc[own["method"] == m, "paper"].mean() for m in ("lambda000", "lambda100"))))
    for d, own in CELLS.groupby("dataset")
}
"""By how much the paper's lambda = 0 and 1 differ, by table."""


@pytest.fixture(scope="module")
def stated():
    return STATED[STATED["paper"] == "titsias2001"]


def like_the_paper(stated, shift=0.0, spread=0.3, runs=5):
    """Errors as the paper prints them, with some spread, for the tables there is data for."""
    rng = np.random.default_rng(0)
    rows = []
    for cell in tables.cells(stated).to_dict("records"):
        if cell["dataset"] == "clouds":
            continue
        for run in range(runs):
            for fold in range(5):
                key = {name: cell[name] for name in ("dataset", "method", "n_components")}
                key["n_test"] = datasets.shape(cell["dataset"])[0] // 5
                error = cell["paper"] + shift + rng.normal(0, spread)
                lam = int(cell["method"][6:]) / 100 if cell["method"].startswith("lambda") else 0.5
                more = {
                    "shared": lam,
                    "own_group": 0.95,
                    "seconds": 5.0 if cell["method"] == "averaging" else 1.0,
                }
                rows.append(key | {"run": run, "fold": fold, "error": error} | more)
    return pd.DataFrame(rows)


def with_other_features(table):
    """And with the other features: Pima as it is; Satimage as good from all rows, and worse where all 36 are used."""
    pima = table[table["dataset"] == "pima"].assign(dataset="pima_raw")
    satimage = table[table["dataset"] == "satimage"]
    whole = satimage.assign(dataset="satimage_whole")
    raw = satimage.assign(dataset="satimage_raw", error=satimage["error"] + 2)
    return pd.concat([table, pima, whole, raw], ignore_index=True)


def found(errors, examples=None):
    records = {
        name: {
            "available": True,
            "shape": list(datasets.shape(name)),
            "n_classes": datasets.describe(name)["n_classes"],
        }
        for name in PAPER.judged
    }
    return evidence.Evidence(
        values.values(errors),
        values.seconds(errors),
        pd.DataFrame() if examples is None else examples,
        records,
        CELLS,
        PAPER,
    )


@pytest.fixture(scope="module")
def examples():
    rows = [
        {"figure": figure, "run": run} | row
        for figure in FIGURES
        for run in range(6)
        for row in measure(figure, 300, 100 + run)
    ]
    return pd.DataFrame(rows)


def verdicts(stated, what):
    """By id, from evidence, or from what has the evidence of a claim."""
    table, _ = summary.ledger(
        stated, lambda claim, reading: judges.judge(what(claim) if callable(what) else what, claim)
    )
    return table.set_index("id")


def test_every_claim_has_a_verdict(stated, examples):
    table = verdicts(stated, found(with_other_features(like_the_paper(stated)), examples))
    assert set(table["verdict"]) <= set(VERDICTS)
    missing = table[table["verdict"].isin(["not run", "not built"])]
    assert missing["remark"].str.contains("not available").all()
    assert missing.index.str.contains("clouds|no_winner_0_or_1.check").all()


def test_the_paper_itself_reproduces_and_its_orderings_hold_or_fail_as_printed(stated, examples):
    table = verdicts(stated, found(with_other_features(like_the_paper(stated, spread=1e-3)), examples))
    cells = table[table.index.isin(CELLS["id"]) & ~table.index.str.contains("clouds")]
    assert len(cells) == 4 * 35
    assert (cells["verdict"] == "reproduced").all()
    told = table["verdict"].to_dict()
    assert told["titsias.sec4.pima.rbf_better"] == "holds"
    assert told["titsias.sec4.averaging_best"] == "holds"
    assert told["titsias.sec4.averaging_best.satimage"] == "holds"
    assert told["titsias.sec4.averaging_best.pima"] == "fails"
    assert told["titsias.sec4.ionosphere.lambda_beats_rbf"] == "fails"
    assert told["titsias.sec4.phoneme.lambda_beats_rbf"] == "holds"
    assert told["titsias.sec4.no_winner_0_or_1"] == "not testable"  # it takes clouds
    assert told["titsias.sec4.satimage.projection"] == "holds"
    assert told["titsias.sec3.sharing_control"] == "holds"
    assert told["titsias.sec4.averaging_cost"] == "holds"
    assert told["titsias.sec3b.averaging_helps"] == "holds"
    assert told["titsias.sec5.depends_on_lambda"] == "holds"


def test_errors_that_are_larger_are_worse(stated, examples):
    cells = stated[stated["id"].isin(CELLS["id"]) & (stated["dataset"] == "pima")]
    for shift, verdict in ((3.0, "worse"), (-3.0, "better")):
        table = verdicts(cells, found(like_the_paper(stated, shift), examples))
        assert len(table) > 20
        assert (table["verdict"] == verdict).all()


def by_lambda(stated, error, runs=8, other=lambda d: 1.0):
    """Errors that a function of data set and lambda gives, with some spread, and another of data set for the others."""
    table = like_the_paper(stated, runs=runs)
    noise = np.random.default_rng(1).normal(0, 0.05, len(table))
    own = [
        error(row.dataset, int(row.method[6:]) / 100)
        if row.method.startswith("lambda")
        else other(row.dataset)
        for row in table.itertuples()
    ]
    return found(table.assign(error=20 + np.array(own) + noise))


@pytest.mark.parametrize(
    ("error", "depends", "intermediate"),
    [
        # The best lambda is 0 on one table, 1 on another, in the middle elsewhere.
        (lambda d, lam: 5 * abs(lam - {"pima": 0, "phoneme": 1}.get(d, 0.5)), "holds", "holds"),
        # So too, but by half a point or one, less than the paper's own ends of lambda differ by on Pima.
        (lambda d, lam: abs(lam - {"pima": 0, "phoneme": 1}.get(d, 0.5)), "fails", "holds"),
        # By what they differ by.
        (lambda d, lam: ENDS[d] * abs(lam - (d == "pima")), "undecided", "fails"),
        (lambda d, lam: 5 * lam, "fails", "fails"),  # one is best everywhere
        (lambda d, lam: 0.0, "fails", "undecided"),
    ],
)
def test_what_lambda_does_can_be_told(error, depends, intermediate, stated):
    claims = stated.set_index("id", drop=False)
    evidence = by_lambda(stated, error)
    told = {
        name: judges.judge(evidence, claims.loc[f"titsias.{name}"].to_dict())
        for name in ("sec5.depends_on_lambda", "sec4.intermediate_lambda", "sec4.no_winner_0_or_1")
    }
    assert told["sec5.depends_on_lambda"].verdict == depends, told["sec5.depends_on_lambda"].note
    assert told["sec4.intermediate_lambda"].verdict == intermediate
    assert "10 are needed" in told["sec4.intermediate_lambda"].note  # 12 of 25, without clouds
    assert told["sec4.no_winner_0_or_1"].verdict == "not testable"  # whatever the errors


@pytest.mark.parametrize(
    ("average", "verdict"), [({"phoneme": -1.0}, "holds"), ({}, "fails"), ({"phoneme": 0.0}, "undecided")]
)
def test_averaging_helps_in_some_cases_where_it_does_on_one_table(average, verdict, stated):
    claim = stated.set_index("id", drop=False).loc["titsias.sec3b.averaging_helps"].to_dict()
    what = by_lambda(stated, lambda d, lam: 0.0, 25, lambda d: average.get(d, 1.0))
    assert judges.judge(what, claim).verdict == verdict


def test_what_nobody_says_of_pima_is_that_it_was_scaled(stated):
    """By default no claim rests on standardised features, and another reading has them."""
    errors = with_other_features(like_the_paper(stated))
    questions = papers.questions("titsias2001", STATED, PAPER, ROOT / "config")
    (pima,) = [question for question in questions if question.name == "pima"]
    assert pima.default == "as-it-is"
    default = Reading({"pima": pima.default}, (pima.instead[pima.default],))
    cell = "titsias.table3.pima.lambda050.m6"
    some = stated[~stated["id"].str.contains("table") | (stated["id"] == cell)]

    def told(table):
        what = found(table)
        by_default = what.under(default)
        return verdicts(some, lambda claim: by_default if pima.touches(claim["id"]) else what)["verdict"]

    pd.testing.assert_series_equal(told(errors), told(errors[errors["dataset"] != "pima"]))
    moved = found(errors.assign(error=errors["error"] + 9 * (errors["dataset"] == "pima_raw")))
    claim = stated.set_index("id", drop=False).loc[cell].to_dict()
    surveyed = survey(claim, [pima], lambda reading: judges.judge(moved.under(reading), claim))
    assert [one.judgement.verdict for one in surveyed.found] == ["worse", "reproduced"]
    assert surveyed.words == "the scaling of Pima"


def example(figure, runs=100, **models):
    """Runs of one example: by model, a column and its mean or values."""
    rng = np.random.default_rng(2)
    rows = []
    for model, (column, value) in models.items():
        values = np.broadcast_to(value, runs) + rng.normal(0, 1e-3, runs)
        rows += [{"figure": figure, "model": model, "run": i, column: v} for i, v in enumerate(values)]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("same", "verdict"), [(86, "holds"), (50, "undecided"), (59, "undecided"), (30, "fails")]
)
def test_most_fits_decide_what_the_one_of_figure_3_is_like(same, verdict, stated):
    """Others are far off, which a mean would not forgive."""
    claim = stated.set_index("id", drop=False).loc["titsias.sec2d.fig3_same_as_separate"].to_dict()
    apart = np.where(np.arange(100) < same, 0.01, 1.5)
    judged = judges.judge(found(pd.DataFrame(), example("figure3", shared=("apart", apart))), claim)
    assert judged.verdict == verdict
    assert judged.low < judged.measured == same / 100 < judged.high


@pytest.mark.parametrize(
    ("four", "two", "verdict"),
    [
        (-2.85, -3.7, "reproduced"),
        (-3.2, -3.7, "higher"),
        (-2.5, -3.7, "lower"),
        (-2.85, -2.86, "lower"),
        (-2.90, -3.7, "undecided"),
    ],
)
def test_how_many_separate_kernels_figure_4_needs(four, two, verdict, stated):
    claim = stated.set_index("id", drop=False).loc["titsias.sec2d.fig4_n_kernels"].to_dict()
    models = {"shared": -2.85, "separate": two, "separate, 4 kernels": four}
    table = example("figure4", **{name: ("log_likelihood", value) for name, value in models.items()})
    assert judges.judge(found(pd.DataFrame(), table), claim).verdict == verdict


def test_what_figure_5_shows_depends_on_what_is_measured(stated, examples):
    claim = stated.set_index("id", drop=False).loc["titsias.sec2d.fig5_separate_better"].to_dict()
    what = found(pd.DataFrame(), examples)
    verdicts = [
        judges.judge(what.under(Reading(options)), claim).verdict
        for options in ({}, {"measure": "likelihood"}, {"measure": "error"})
    ]
    assert verdicts == ["fails", "fails", "holds"]
    models = {"shared": -2.0, "separate": -1.0}
    table = example("figure5", **{name: ("log_likelihood", value) for name, value in models.items()})
    assert judges.judge(found(pd.DataFrame(), table), claim).verdict == "holds"


def test_the_errors_tell_which_features_of_satimage_the_paper_had(stated):
    claim = stated.set_index("id", drop=False).loc["titsias.sec4.satimage.projection"].to_dict()
    table = with_other_features(like_the_paper(stated, spread=0.1))
    other = {"satimage": "satimage_raw", "satimage_raw": "satimage"}
    assert judges.judge(found(table), claim).verdict == "holds"
    swapped = table[table["dataset"] != "satimage_whole"]
    swapped = swapped.assign(dataset=swapped["dataset"].replace(other))
    worse = swapped[swapped["dataset"] == "satimage"].assign(dataset="satimage_whole")
    assert judges.judge(found(pd.concat([swapped, worse])), claim).verdict == "fails"


def test_intervals_too_wide_for_the_differences_of_a_column_reproduce_nothing(stated):
    table = verdicts(stated, found(like_the_paper(stated, spread=15.0, runs=4)))
    cells = table[table.index.isin(CELLS["id"]) & ~table.index.str.contains("clouds")]
    assert set(cells["verdict"]) <= {"too few runs", "not testable", "better", "worse"}
    assert cells["remark"].str.contains("spread pooled over 35 results, all of the table").any()


def test_without_a_run_claims_are_not_run(stated):
    table = verdicts(stated, found(pd.DataFrame()))
    told = table.loc[table.index.str.contains("table2|fig3_prbf|averaging_best.pima"), ["verdict", "remark"]]
    assert (told["verdict"] == "not run").all()
    assert told["remark"].str.contains("add the target titsias").all()


def test_tests_that_claims_name_are_there():
    for note in judges.THEORY.values():
        for word in note.replace(";", " ").split():
            if "::" in word:
                file, name = word.split("::")
                assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), word


def test_kernels_are_multiples_of_classes(stated):
    for cell in tables.cells(stated).to_dict("records"):
        n_classes = {"clouds": 2}.get(cell["dataset"]) or datasets.describe(cell["dataset"])["n_classes"]
        assert cell["n_components"] % n_classes == 0
        assert cell["n_components"] in PAPER.tables[cell["dataset"]]["n_components"]


def test_the_synthetic_examples_are_as_the_paper_tells_them(stated, examples):
    told = verdicts(stated, found(pd.DataFrame(), examples))["verdict"].to_dict()
    for name in ("sec2c.fig3_supervised", "sec2c.fig3_prbf_better"):
        assert told[f"titsias.{name}"] == "holds", name
    assert told["titsias.sec2d.fig4_prbf_better"] == "holds"
    assert told["titsias.sec2d.fig4_n_kernels"] == "reproduced"


def test_panels_have_every_row_and_say_whose_a_kernel_is():
    table = pd.DataFrame(figures.panels(100, dict.fromkeys(figures.PANELS, 1)))
    kernels = table[table["radius"].notna()]
    assert (table[table["radius"].isna()].groupby("panel").size() == 100).all()
    assert kernels.groupby("panel").size().tolist() == [2] * 6
    separate = kernels[kernels["panel"].str.contains("one kernel per class")]
    assert sorted(separate["class"]) == [0, 0, 1, 1]
    # Two clouds that both classes live in.
    assert kernels.loc[kernels["panel"] == "Figure 4: two shared kernels (lambda = 1)", "class"].isna().all()


def test_tables_show_what_is_not_available(stated):
    paper = tables.cells(stated)
    table = tables.summary(like_the_paper(stated), paper, PAPER)
    assert len(table) == 8 * 35
    text = tables.to_markdown(table, PAPER)
    assert "## Table I: Clouds" in text
    assert "Not available: the server of the ELENA project is gone" in text
    clouds = table[table["dataset"] == "clouds"]
    assert clouds["error"].isna().all()
    there = table[table["dataset"].isin(PAPER.judged)]
    assert there["within"].all()
    counted = tables.agreement(table, PAPER).set_index(["dataset", "methods"])
    assert counted["within"].sum() == counted["within_counting"].sum() == 4 * 35
    # On phoneme's 1080 rows a fold, errors of a fifth deviate by 1.2 points from counting alone; the paper has 0.8.
    assert counted.loc[("phoneme", "each lambda"), "below_counting"] == 24
    far = tables.summary(like_the_paper(stated, shift=1.0), paper, PAPER)
    there = far[far["dataset"] == "phoneme"].astype({"within": bool, "within_counting": bool})
    small = there["paper_std"] < there["counting_std"]
    assert there["within_counting"].sum() > there["within"].sum()
    assert (there["within"] == there["within_counting"])[~small].all()


def blobs(n=240, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 4)) + 2.5 * np.eye(3, 4)[y], y


def test_scores_are_fitted_inside_the_fold_and_errors_are_those_of_the_models():
    X, y = blobs()
    spec = {"folds": "stratified", "n_folds": 3, "scale": "discriminant"}
    seen = list(_table_trials("blobs", spec, {"X": X, "y": y}, ["all"], [0], 1))
    assert all(trial.X_train.shape[1] == 2 for trial in seen)
    # Within a class the scores of the training rows have unit variance, those of the test rows have not.
    for trial in seen:
        centred = np.concatenate(
            [
                trial.X_train[trial.y_train == c] - trial.X_train[trial.y_train == c].mean(axis=0)
                for c in range(3)
            ]
        )
        np.testing.assert_allclose(centred.T @ centred / len(centred), np.eye(2), atol=1e-8)
    model = PAPER.model | {"max_iter": 20}
    rows = errors.fit_errors(seen[0], 6, (0.0, 1.0), model, 0)
    assert [row["method"] for row in rows] == ["rbf", "lambda000", "lambda100", "averaging"]
    assert all(0 <= row["error"] <= 20 for row in rows)
    assert rows[1]["own_group"] == pytest.approx(1.0)
    assert rows[1]["shared"] == 0
    choice = errors.choice_errors(seen[0], 6, (0.0, 1.0), model, 0.3, 0)
    assert [row["method"] for row in choice[4:]] == ["chosen", "chosen by accuracy", "chosen per pair"]
    rows = [row | {"dataset": "blobs", "run": r} for r in (0, 1) for row in choice]
    text = tables.choice_markdown(tables.choice_table(pd.DataFrame(rows)), PAPER)
    assert "chosen per pair" in text
