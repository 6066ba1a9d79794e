"""Splits: who trains, who chooses, who tests. scikit-learn's digits stand in for the papers' images."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from skem.datasets import Dataset
from skem.repro.training import feature_store, features, splits, views

DIGITS = load_digits()
N_TRAIN, ROOT = 1200, 7
TABLE = {"source": "digits", "recipe": "table", "scale": "standard", "n_folds": 5}
TABLE |= {"folds": "stratified", "validation_fraction": 0.1, "dtype": "float64"}
IMAGES = {"source": "digits", "recipe": "images", "deskew": False, "half": False, "standardize": None}
IMAGES |= {"n_components": 64, "dtype": "float64"}
HELD_OUT = IMAGES | {"validation_fraction": 0.1}
DRAWN = IMAGES | {"n_train": 600, "n_validation": 200}


@pytest.fixture
def pictures(monkeypatch):
    """Images that a test may change: 1200 for training, 597 for testing."""
    images = (DIGITS.images * 15).astype(np.uint8)
    data = Dataset("digits", images, DIGITS.target, tuple("0123456789"), None, N_TRAIN, {})
    monkeypatch.setattr("skem.datasets.load", lambda source: data)
    return data


@pytest.fixture
def flat(monkeypatch):
    data = Dataset("digits", DIGITS.data, DIGITS.target, tuple("0123456789"), None, None, {})
    monkeypatch.setattr("skem.datasets.load", lambda source: data)
    return data


def prepare(spec, name, root=ROOT):
    return features.prepare("digits", spec, [name], root)[name]


def rows_of(part, arrays, data):
    """Which training images these are: 64 components keep all distances to the test images."""
    values = data.data.reshape(len(data.data), -1) / 255
    known = arrays["X_test"][:40]
    far = cdist(cdist(arrays[f"X_{part}"], known), cdist(values[:N_TRAIN], values[N_TRAIN:][:40]))
    assert far.min(axis=1).max() < 1e-3
    return far.argmin(axis=1)


def table(n=300, n_classes=3):
    """Rows that carry their own number."""
    y = np.sort(np.arange(n) % n_classes)
    return {"table": {"X": np.column_stack([np.arange(n), np.ones(n)]).astype(float), "y": y}}


def table_trials(features, rows=("all", "part"), runs=(0,), root=ROOT, **spec):
    return list(splits.trials("d", TABLE | spec, features, list(rows), list(runs), root))


# Seeds


def test_seeds_are_the_published_ones():
    """Another digest would change every number that was ever reported."""
    assert splits.seed(2022, "mnist", 0, 0, "start") == 641543860
    assert splits.seed(2022, "rice", 3, "folds") == 360636377
    assert splits.seed(0) == 396505482


def test_seeds_differ_by_root_name_run_and_purpose():
    keys = [
        (d, r, f, p) for d in ("rice", "mnist") for r in range(20) for f in range(10) for p in ("start", "v")
    ]
    seeds = [splits.seed(root, *key) for root in (0, 1, 2022) for key in keys]
    assert len(set(seeds)) == len(seeds)
    backwards = [splits.seed(root, *key) for root in (2022, 1, 0) for key in reversed(keys)]
    assert backwards == seeds[::-1]


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**64), st.lists(st.one_of(st.text(max_size=5), st.integers()), max_size=4))
def test_a_seed_is_one_that_scikit_learn_takes(root, names):
    seed = splits.seed(root, *names)
    assert isinstance(seed, int)
    assert 0 <= seed < 2**32


# Tables


def test_every_row_is_tested_once_and_never_trained_on():
    features = table()
    for rows in ("all", "part"):
        trials = table_trials(features, [rows], scale="none")
        assert [trial.fold for trial in trials] == list(range(5))
        assert sorted(np.concatenate([t.X_test[:, 0] for t in trials])) == list(range(300))
        for trial in trials:
            parts = [trial.X_train[:, 0], trial.X_validation[:, 0], trial.X_test[:, 0]]
            assert sorted(np.concatenate(parts)) == list(range(300))
            for X, y in zip(parts, (trial.y_train, trial.y_validation, trial.y_test), strict=True):
                np.testing.assert_array_equal(y, features["table"]["y"][X.astype(int)])
            assert len(trial.y_validation) == (24 if rows == "part" else 0)


def test_test_and_validation_rows_are_stratified():
    for trial in table_trials(table(), ["part"], validation_fraction=0.25):
        assert np.bincount(trial.y_test).tolist() == [20, 20, 20]
        assert np.bincount(trial.y_validation).tolist() == [20, 20, 20]


def test_all_and_part_share_their_test_rows():
    both = table_trials(table(), scale="none")
    for whole, part in zip(both[::2], both[1::2], strict=True):
        assert (whole.rows, part.rows, whole.fold) == ("all", "part", part.fold)
        np.testing.assert_array_equal(whole.X_test, part.X_test)
        assert set(part.X_train[:, 0]) < set(whole.X_train[:, 0])


def test_a_run_is_the_same_whatever_else_runs():
    together = [t for t in table_trials(table(), runs=[0, 1, 2]) if (t.run, t.rows) == (1, "part")]
    alone = table_trials(table(), ["part"], runs=[1])
    for a, b in zip(together, alone, strict=True):
        assert a.keys() == b.keys()
        for part in ("train", "validation", "test"):
            np.testing.assert_array_equal(getattr(a, f"X_{part}"), getattr(b, f"X_{part}"))


def test_runs_and_roots_draw_other_folds():
    tests = [
        table_trials(table(), ["all"], [run], root, scale="none")[0].X_test[:, 0].tolist()
        for run, root in ((0, ROOT), (1, ROOT), (0, ROOT + 1))
    ]
    assert len(set(map(tuple, tests))) == 3


@pytest.mark.parametrize("rows", ["all", "part"])
def test_scaling_learns_from_training_rows_only(rows):
    features = table()
    before = table_trials(features, [rows])[0]
    numbers = table_trials(features, [rows], scale="none")[0]
    np.testing.assert_allclose(before.X_train[:, 0].mean(), 0, atol=1e-12)
    np.testing.assert_allclose(before.X_train[:, 0].std(), 1)
    for part in ("test", "validation") if rows == "part" else ("test",):
        features["table"]["X"][getattr(numbers, f"X_{part}")[:, 0].astype(int), 0] *= -100
    after = table_trials(features, [rows])[0]
    np.testing.assert_array_equal(after.X_train, before.X_train)
    assert not np.array_equal(after.X_test, before.X_test)


def test_a_constant_column_scales_to_zeros():
    for trial in table_trials(table(), ["part"]):
        assert not trial.X_train[:, 1].any()
        assert not trial.X_validation[:, 1].any()


def test_table_features_are_the_chosen_columns(flat):
    arrays = prepare(TABLE | {"columns": [20, 3]}, "table")
    np.testing.assert_array_equal(arrays["X"], DIGITS.data[:, [20, 3]])
    np.testing.assert_array_equal(arrays["y"], DIGITS.target)
    assert prepare(TABLE | {"dtype": "float32"}, "table")["X"].dtype == np.float32


def test_keys_of_a_trial():
    keys = table_trials(table(), ["part"], runs=[3])[2].keys()
    counts = {"n_train": 216, "n_validation": 24, "n_test": 60}
    assert keys == {"run": 3, "fold": 2, "rows": "part"} | counts


# Images


@pytest.mark.parametrize(
    ("spec", "rows", "runs", "names"),
    [
        (TABLE, ["all", "part"], [0, 1], ["table"]),
        (DRAWN, ["all"], [2, 3], ["run2", "run3"]),
        (HELD_OUT, ["all"], [0, 1], ["all"]),
        (HELD_OUT, ["part"], [0, 1], ["part0", "part1"]),
        (HELD_OUT, ["all", "part"], [4], ["all", "part4"]),
    ],
)
def test_names_of_features(spec, rows, runs, names):
    assert feature_store.names(spec, rows, runs) == names


@given(st.sampled_from(["run", "part"]), st.integers(1, 30), st.integers(1, 120), st.integers(0, 200))
def test_features_of_as_many_runs_as_a_job_has_share_a_file(kind, size, n_runs, run):
    file = feature_store.file_of(f"{kind}{run}", size, n_runs)
    held = feature_store.names_in(file)
    assert f"{kind}{run}" in held
    if kind == "part":
        size = max(size, feature_store.TOGETHER)
    assert len(held) <= size
    if run < n_runs:
        assert {feature_store.file_of(name, size, n_runs) for name in held} == {file}
        assert held[-1] in [f"{kind}{last}" for last in range(n_runs)]
    else:
        # More runs than usual share files too: no file of its own for each.
        assert len(held) == size


@pytest.mark.parametrize("name", ["table", "all"])
def test_features_that_all_runs_share_have_a_file_of_their_own(name):
    assert feature_store.file_of(name, 5, 10) == name
    assert feature_store.names_in(name) == [name]


def test_of_a_file_only_what_a_job_needs_is_read(tmp_path):
    made = {f"run{run}": {"X_train": np.full((2, 3), run), "y_train": np.arange(2)} for run in range(4)}
    feature_store.write(tmp_path / "run0-3.npz", made)
    feature_store.write(tmp_path / "none.npz", {})
    found = feature_store.read([tmp_path / "run0-3.npz", tmp_path / "none.npz"], DRAWN, ["all"], [1, 2])
    assert list(found) == ["run1", "run2"]
    for name, arrays in found.items():
        for key, array in arrays.items():
            np.testing.assert_array_equal(array, made[name][key])
    assert feature_store.read([tmp_path / "none.npz"], DRAWN, ["all"], [1, 2]) == {}


def test_images_drawn_for_training_and_validation_are_disjoint(pictures):
    drawn = {}
    for name in ("run0", "run1"):
        arrays = prepare(DRAWN, name)
        assert len(arrays["X_test"]) == len(pictures.data) - N_TRAIN
        train, validation = rows_of("train", arrays, pictures), rows_of("validation", arrays, pictures)
        assert (len(set(train)), len(set(validation))) == (600, 200)
        assert not set(train) & set(validation)
        np.testing.assert_array_equal(arrays["y_train"], DIGITS.target[train])
        np.testing.assert_array_equal(arrays["y_validation"], DIGITS.target[validation])
        drawn[name] = set(train)
    assert drawn["run0"] != drawn["run1"]
    again = rows_of("train", prepare(DRAWN, "run0"), pictures)
    assert set(again) == drawn["run0"]
    assert set(rows_of("train", prepare(DRAWN, "run0", ROOT + 1), pictures)) != drawn["run0"]


def test_images_held_out_are_stratified(pictures):
    arrays = prepare(HELD_OUT, "part0")
    train, validation = rows_of("train", arrays, pictures), rows_of("validation", arrays, pictures)
    assert sorted([*train, *validation]) == list(range(N_TRAIN))
    assert len(validation) == 120
    shares = np.bincount(DIGITS.target[:N_TRAIN]) / N_TRAIN
    assert np.abs(np.bincount(arrays["y_validation"]) - 120 * shares).max() < 1
    assert set(validation) != set(rows_of("validation", prepare(HELD_OUT, "part1"), pictures))


def test_all_training_images_leave_nothing_to_validate_on(pictures):
    arrays = prepare(HELD_OUT, "all")
    assert (len(arrays["X_train"]), arrays["X_validation"].shape) == (N_TRAIN, (0, 64))


@pytest.mark.parametrize(("spec", "name"), [(DRAWN, "run0"), (HELD_OUT, "part0"), (HELD_OUT, "all")])
def test_image_features_learn_from_training_rows_only(pictures, spec, name):
    validation = rows_of("validation", prepare(spec, name), pictures) if name != "all" else []
    train = rows_of("train", prepare(spec, name), pictures)
    spec = spec | {"n_components": 10, "deskew": True, "standardize": "global"}
    before = prepare(spec, name)
    pictures.data[N_TRAIN:] = 255 - pictures.data[N_TRAIN:]
    pictures.data[validation] = 255 - pictures.data[validation]
    after = prepare(spec, name)
    np.testing.assert_array_equal(after["X_train"], before["X_train"])
    assert not np.allclose(after["X_test"], before["X_test"])
    pictures.data[train[0]] = 255 - pictures.data[train[0]]
    assert not np.array_equal(prepare(spec, name)["X_train"][1:], before["X_train"][1:])


def test_image_trials_follow_the_rows_asked_for(pictures):
    small = {"n_components": 4, "dtype": "float32"}
    features = {name: prepare(HELD_OUT | small, name) for name in ("all", "part0", "part1")}
    found = list(splits.trials("digits", HELD_OUT, features, ["all", "part"], [0, 1], ROOT))
    assert [(t.run, t.rows) for t in found] == [(0, "all"), (0, "part"), (1, "all"), (1, "part")]
    only = splits.trials("digits", HELD_OUT, features, ["part"], [1], ROOT)
    assert [(t.run, t.rows, len(t.y_validation)) for t in only] == [(1, "part", 120)]
    features = {"run0": prepare(DRAWN | small, "run0")}
    for rows in (["all"], ["part"], ["all", "part"]):
        (trial,) = splits.trials("digits", DRAWN, features, rows, [0], ROOT)
        assert (trial.rows, len(trial.y_train), len(trial.y_validation)) == ("all", 600, 200)
        assert trial.X_train.dtype == np.float32


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"n_train": 1000, "n_validation": 201},
            "n_train \\+ n_validation = 1201, digits has 1200 training rows",
        ),
        ({"n_components": 65}, "n_components is 65, an image has 64 values"),
        ({"half": True, "n_components": 17}, "n_components"),
        ({"n_train": 10, "n_components": 12}, "n_components=12 asked of 10 rows"),
    ],
)
def test_too_much_asked_of_images(pictures, change, message):
    with pytest.raises(ValueError, match=message):
        prepare(DRAWN | change, "run0")


def test_too_much_asked_of_tables(flat):
    with pytest.raises(
        ValueError, match=r"features\.digits\.columns names column 64, digits has 64 \(0 to 63\)"
    ):
        prepare(TABLE | {"columns": [0, 64]}, "table")


def test_a_fraction_that_holds_out_nothing_is_an_error():
    """A run without validation rows would have no validated and no nested accuracy."""
    with pytest.raises(ValueError, match="validation"):
        table_trials(table(), ["part"], validation_fraction=0.001)


# Folds, scaling, and what is made of the features of a trial


def test_contiguous_folds_follow_the_file_and_shuffled_ones_do_not():
    features = table()
    for run in (0, 1):
        trials = table_trials(features, ["all"], [run], scale="none", folds="contiguous")
        assert np.concatenate([t.X_test[:, 0] for t in trials]).tolist() == list(range(300))
    first, second = (table_trials(features, ["all"], [r], scale="none", folds="shuffled") for r in (0, 1))
    assert sorted(np.concatenate([t.X_test[:, 0] for t in first])) == list(range(300))
    assert first[0].X_test[:, 0].tolist() != second[0].X_test[:, 0].tolist()
    # Not stratified: the classes of a fold are not in proportion.
    assert any(len(set(np.bincount(t.y_test, minlength=3))) > 1 for t in first)


def test_range_scaling_takes_the_training_rows_to_minus_one_and_one():
    for trial in table_trials(table(), ["part"], scale="range"):
        assert trial.X_train[:, 0].min() == pytest.approx(-1)
        assert trial.X_train[:, 0].max() == pytest.approx(1)
        assert np.abs(trial.X_test[:, 0]).max() <= 1.1


@pytest.fixture
def pca(pictures):
    arrays = prepare(DRAWN | {"n_components": 12}, "run0")
    return next(splits.trials("digits", DRAWN, {"run0": arrays}, ["all"], [0], ROOT))


@pytest.mark.parametrize("how", ["whiten", "ica"])
def test_rotated_features_are_learned_from_training_rows(pca, how):
    seen = views.view(pca, 12, 3, {"rotate": how}, 1)
    np.testing.assert_allclose(np.cov(seen.X_train.T), np.eye(12), atol=0.01)
    changed = dataclasses.replace(pca, X_test=-pca.X_test)
    again = views.view(changed, 12, 3, {"rotate": how}, 1)
    np.testing.assert_array_equal(again.X_train, seen.X_train)
    # A rotation and a scaling: it can be undone.
    back = np.linalg.lstsq(
        seen.X_train - seen.X_train.mean(0), pca.X_train - pca.X_train.mean(0), rcond=None
    )[0]
    rebuilt = (seen.X_test - seen.X_train.mean(0)) @ back + pca.X_train.mean(0)
    np.testing.assert_allclose(rebuilt, pca.X_test, atol=1e-6)


def test_recombined_rows_keep_blocks_and_classes_but_not_who_is_with_whom(pca):
    seen = views.view(pca, 12, 3, {"recombine": True}, 1)
    assert not np.array_equal(seen.X_test, pca.X_test)
    for part in ("train", "validation", "test"):
        before, after, y = (
            getattr(t, name) for t, name in ((pca, f"X_{part}"), (seen, f"X_{part}"), (pca, f"y_{part}"))
        )
        for columns in np.array_split(np.arange(12), 3):
            for label in np.unique(y):
                one = before[np.ix_(y == label, columns)]
                other = after[np.ix_(y == label, columns)]
                np.testing.assert_array_equal(one[np.lexsort(one.T)], other[np.lexsort(other.T)])
    one_block = views.view(pca, 12, 1, {"recombine": True}, 1)
    np.testing.assert_array_equal(np.sort(one_block.X_test, axis=0), np.sort(pca.X_test, axis=0))


def test_moved_test_images_leave_training_and_validation_as_they_are(pictures):
    still, moved = prepare(DRAWN, "run0"), prepare(DRAWN | {"move_test": True}, "run0")
    for name in ("X_train", "X_validation", "y_test"):
        np.testing.assert_array_equal(moved[name], still[name])
    assert not np.allclose(moved["X_test"], still["X_test"])


def test_features_do_not_depend_on_what_else_is_made(pictures):
    spec = HELD_OUT | {"standardize": "global", "n_components": 20}
    names = ["part0", "part1", "all"]
    together = features.prepare("digits", spec, names, ROOT)
    for name in names:
        for key, array in prepare(spec, name).items():
            np.testing.assert_array_equal(together[name][key], array)
