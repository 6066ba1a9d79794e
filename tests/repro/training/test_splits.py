"""Training, validation and test samples, and their features. scikit-learn's digits stand in for the papers' images."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from skem.datasets import Dataset
from skem.repro.training import feature_store, features, splits

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


def prepare(spec, name, root=ROOT):
    return features.prepare("digits", spec, [name], root)[name]


def rows_of(part, arrays, data):
    """Indices of training images: 64 components keep all distances to the test images."""
    values = data.data.reshape(len(data.data), -1) / 255
    known = arrays["X_test"][:40]
    far = cdist(cdist(arrays[f"X_{part}"], known), cdist(values[:N_TRAIN], values[N_TRAIN:][:40]))
    assert far.min(axis=1).max() < 1e-3
    return far.argmin(axis=1)


def table(n=300, n_classes=3):
    """Samples whose first feature is their number."""
    y = np.sort(np.arange(n) % n_classes)
    return {"table": {"X": np.column_stack([np.arange(n), np.ones(n)]).astype(float), "y": y}}


def table_trials(rows=("all", "part"), runs=(0,), root=ROOT, features=None, **spec):
    return list(splits.trials("d", TABLE | spec, features or table(), rows, runs, root))


def numbers(X):
    return X[:, 0].astype(int)


# Tables


@pytest.mark.parametrize("rows", ["all", "part"])
def test_every_sample_is_tested_once_and_never_trained_on(rows):
    trials = table_trials([rows], scale="none")
    assert [trial.fold for trial in trials] == list(range(5))
    assert sorted(np.concatenate([numbers(t.X_test) for t in trials])) == list(range(300))
    for t in trials:
        parts = [(t.X_train, t.y_train), (t.X_validation, t.y_validation), (t.X_test, t.y_test)]
        assert sorted(np.concatenate([numbers(X) for X, _ in parts])) == list(range(300))
        for X, y in parts:
            np.testing.assert_array_equal(y, table()["table"]["y"][numbers(X)])
        assert np.bincount(t.y_test).tolist() == [20, 20, 20]
        assert np.bincount(t.y_validation, minlength=3).tolist() == [8 * (rows == "part")] * 3
    assert trials[2].keys() == {
        **{"run": 0, "fold": 2, "rows": rows},
        **{"n_train": 240 - 24 * (rows == "part"), "n_validation": 24 * (rows == "part"), "n_test": 60},
    }


def test_a_run_is_the_same_beside_any_others_and_differs_from_them():
    together = [t for t in table_trials(runs=[0, 1, 2]) if (t.run, t.rows) == (1, "part")]
    for a, b in zip(together, table_trials(["part"], runs=[1]), strict=True):
        for part in ("train", "validation", "test"):
            np.testing.assert_array_equal(getattr(a, f"X_{part}"), getattr(b, f"X_{part}"))
    draws = [
        table_trials(["all"], [run], root, scale="none")[0].X_test[:, 0].tolist()
        for run, root in ((0, ROOT), (1, ROOT), (0, ROOT + 1))
    ]
    assert len(set(map(tuple, draws))) == 3


@pytest.mark.parametrize("rows", ["all", "part"])
def test_scaling_learns_from_training_samples_only(rows):
    data = table()
    before, plain = table_trials([rows], features=data)[0], table_trials([rows], scale="none")[0]
    np.testing.assert_allclose(before.X_train[:, 0].mean(), 0, atol=1e-12)
    np.testing.assert_allclose(before.X_train[:, 0].std(), 1)
    assert not before.X_train[:, 1].any()  # a constant column
    for X in (plain.X_test, plain.X_validation):
        data["table"]["X"][numbers(X), 0] *= -100
    after = table_trials([rows], features=data)[0]
    np.testing.assert_array_equal(after.X_train, before.X_train)
    assert not np.array_equal(after.X_test, before.X_test)
    scaled = table_trials([rows], scale="range")[0]
    assert (scaled.X_train[:, 0].min(), scaled.X_train[:, 0].max()) == pytest.approx((-1, 1))


def test_contiguous_folds_follow_the_file_and_shuffled_ones_do_not():
    for run in (0, 1):
        trials = table_trials(["all"], [run], scale="none", folds="contiguous")
        assert np.concatenate([t.X_test[:, 0] for t in trials]).tolist() == list(range(300))
    first, second = (table_trials(["all"], [r], scale="none", folds="shuffled") for r in (0, 1))
    assert sorted(np.concatenate([t.X_test[:, 0] for t in first])) == list(range(300))
    assert first[0].X_test[:, 0].tolist() != second[0].X_test[:, 0].tolist()
    assert any(len(set(np.bincount(t.y_test, minlength=3))) > 1 for t in first)  # not stratified


# Images


def test_a_job_reads_only_its_features(tmp_path):
    made = {f"run{run}": {"X_train": np.full((2, 3), run), "y_train": np.arange(2)} for run in range(4)}
    feature_store.write(tmp_path / "run0-3.npz", made)
    feature_store.write(tmp_path / "none.npz", {})
    found = feature_store.read([tmp_path / "run0-3.npz", tmp_path / "none.npz"], DRAWN, ["all"], [1, 2])
    assert list(found) == ["run1", "run2"]
    assert (found["run2"]["X_train"] == 2).all()
    assert feature_store.read([tmp_path / "none.npz"], DRAWN, ["all"], [1, 2]) == {}


def test_images_drawn_for_training_and_validation_are_disjoint(pictures):
    drawn = {}
    for name in ("run0", "run1"):
        arrays = prepare(DRAWN, name)
        train, validation = rows_of("train", arrays, pictures), rows_of("validation", arrays, pictures)
        assert (len(set(train)), len(set(validation)), len(arrays["X_test"])) == (600, 200, 597)
        assert not set(train) & set(validation)
        np.testing.assert_array_equal(arrays["y_train"], DIGITS.target[train])
        np.testing.assert_array_equal(arrays["y_validation"], DIGITS.target[validation])
        drawn[name] = set(train)
    assert drawn["run0"] != drawn["run1"]
    assert set(rows_of("train", prepare(DRAWN, "run0", ROOT + 1), pictures)) != drawn["run0"]


def test_images_held_out_are_stratified(pictures):
    arrays = prepare(HELD_OUT, "part0")
    train, validation = rows_of("train", arrays, pictures), rows_of("validation", arrays, pictures)
    assert sorted([*train, *validation]) == list(range(N_TRAIN))
    shares = np.bincount(DIGITS.target[:N_TRAIN]) / N_TRAIN
    assert np.abs(np.bincount(arrays["y_validation"]) - 120 * shares).max() < 1
    assert set(validation) != set(rows_of("validation", prepare(HELD_OUT, "part1"), pictures))


@pytest.mark.parametrize(("spec", "name"), [(DRAWN, "run0"), (HELD_OUT, "all")])
def test_image_features_learn_from_training_samples_only(pictures, spec, name):
    arrays = prepare(spec, name)
    train = rows_of("train", arrays, pictures)
    validation = rows_of("validation", arrays, pictures) if len(arrays["X_validation"]) else []
    spec = spec | {"n_components": 10, "deskew": True, "standardize": "global"}
    before = prepare(spec, name)
    pictures.data[N_TRAIN:] = 255 - pictures.data[N_TRAIN:]
    pictures.data[validation] = 255 - pictures.data[validation]
    after = prepare(spec, name)
    np.testing.assert_array_equal(after["X_train"], before["X_train"])
    assert not np.allclose(after["X_test"], before["X_test"])
    pictures.data[train[0]] = 255 - pictures.data[train[0]]
    assert not np.array_equal(prepare(spec, name)["X_train"][1:], before["X_train"][1:])


def test_moved_test_images_leave_training_and_validation_unchanged(pictures):
    still, moved = prepare(DRAWN, "run0"), prepare(DRAWN | {"move_test": True}, "run0")
    for name in ("X_train", "X_validation", "y_test"):
        np.testing.assert_array_equal(moved[name], still[name])
    assert not np.allclose(moved["X_test"], still["X_test"])


# Views


def test_recombined_samples_exchange_blocks_within_their_class(pictures):
    arrays = prepare(DRAWN | {"n_components": 12}, "run0")
    pca = next(splits.trials("digits", DRAWN, {"run0": arrays}, ["all"], [0], ROOT))
    own = splits.view(pca, 12, 3, {"recombine": True}, 1)
    assert not np.array_equal(own.X_test, pca.X_test)
    for part in ("train", "validation", "test"):
        before, after, y = (
            getattr(t, name) for t, name in ((pca, f"X_{part}"), (own, f"X_{part}"), (pca, f"y_{part}"))
        )
        for columns in np.array_split(np.arange(12), 3):
            for label in np.unique(y):
                one, other = (X[np.ix_(y == label, columns)] for X in (before, after))
                np.testing.assert_array_equal(one[np.lexsort(one.T)], other[np.lexsort(other.T)])
