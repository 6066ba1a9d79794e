"""Files that are damaged or made by hand: ValueError, with the name of the array, and nothing worse."""

import io
import json
import re
import zipfile
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_iris

from skem import DiscriminativePSKEMClassifier, GaussianMixture, KMeans, SDGMClassifier, SKEMClassifier

X, SPECIES = load_iris(return_X_y=True)
MODELS = {
    model.__class__.__name__ + getattr(model, "form", ""): model
    for model in (
        DiscriminativePSKEMClassifier(4, n_blocks=2, max_iter=1, discriminative_iter=1),
        GaussianMixture(4, max_iter=2, tol=0),
        KMeans(3),
        SDGMClassifier(1, max_iter=2, em_iter=2, tol=0),
        SDGMClassifier(1, form="primal", max_iter=2, em_iter=2, tol=0),
        SKEMClassifier(4, covariance_type="spherical", sharing=0.5, max_iter=1),
    )
}
every_model = pytest.mark.parametrize("name", MODELS)


@cache
def saved(name):
    """The bytes of a file, and its arrays."""
    stream = io.BytesIO()
    MODELS[name].set_params(random_state=0).fit(X, SPECIES).save(stream)
    with np.load(io.BytesIO(stream.getvalue())) as archive:
        return stream.getvalue(), dict(archive)


def edited(name, settings=(), attributes=(), **arrays):
    """A file with changes."""
    text = json.loads(str(saved(name)[1]["settings"])) | dict(settings)
    text["attributes"] |= dict(attributes)
    stream = io.BytesIO()
    np.savez(stream, **{**saved(name)[1], "settings": np.array(json.dumps(text)), **arrays})
    return stream.getvalue()


def load(name, content):
    return type(MODELS[name]).load(io.BytesIO(content))


def refused(name, content, words):
    with pytest.raises(ValueError, match=words):
        load(name, content)


CHANGES = {
    "repeated": lambda array: np.repeat(array, 400, axis=0),
    "empty": lambda array: array[:0],
    "of more dimensions": lambda array: array[None],
    "complex": lambda array: array.astype(complex),
    "words": lambda array: array.astype(str),
    "half": lambda array: array.astype(np.float16),
    "long": lambda array: array.astype(np.longdouble),
    "bytes": lambda array: array.view("V1"),
    "dates": lambda array: array.astype("M8[s]"),
    "NaN": lambda array: array * np.nan,
}
MAY_BE = {
    "repeated": r"labels_|groups_\..*",  # the number of training rows, or of components, is known nowhere else
    "empty": r"validation_scores_",
    "words": r"classes_",
    "NaN": r"\w*(objective|log_likelihood)_",
    "dates": r"classes_",
}


@every_model
def test_no_array_is_forgotten(name):
    arrays = saved(name)[1]
    for array in set(arrays) - {"settings"}:
        for change, of in CHANGES.items():
            if not re.fullmatch(MAY_BE.get(change, "-"), array):
                with np.errstate(all="ignore"):
                    bad = of(arrays[array])
                refused(name, edited(name, **{array: bad}), rf"file: no .*: (.* )?{re.escape(array)}")


@every_model
def test_byte_order_and_layout_do_not_matter(name):
    expected, arrays = load(name, saved(name)[0]).predict(X), saved(name)[1]
    for same in (lambda array: array.astype(array.dtype.newbyteorder()), np.asfortranarray):
        content = edited(name, **{array: same(values) for array, values in arrays.items() if values.ndim})
        np.testing.assert_array_equal(load(name, content).predict(X), expected)


@every_model
def test_flipped_bytes(name):
    content, rng = saved(name)[0], np.random.default_rng(0)
    expected = load(name, content).predict(X)
    for place in rng.integers(0, len(content), 60):
        flipped = bytearray(content)
        flipped[place] ^= 1 << rng.integers(8)
        try:
            model = load(name, bytes(flipped))
        except ValueError:
            continue
        np.testing.assert_array_equal(model.predict(X), expected)


DISCRIMINATIVE, CLUSTERS = "DiscriminativePSKEMClassifier", "KMeans"
IMPOSSIBLE = [
    (DISCRIMINATIVE, {"settings": {"format": "other"}}, "not saved by skem, or damaged or cut off"),
    (DISCRIMINATIVE, {"settings": {"version": 2}}, "version 2 of the format; this skem reads version 1"),
    (DISCRIMINATIVE, {"settings": {"params": {"kernel": 1}}}, "kernel"),
    (DISCRIMINATIVE, {"settings": {"params": {"n_blocks": 0}}}, "n_blocks"),
    (DISCRIMINATIVE, {"settings": {"attributes": {}}}, "n_features_in_ is missing"),
    (DISCRIMINATIVE, {"attributes": {"fit": 1}}, "fit is no attribute of the model"),
    (
        DISCRIMINATIVE,
        {"attributes": {"blocks_": []}},
        "blocks_ must have n_blocks=2 elements, got 0",
    ),
    (DISCRIMINATIVE, {"attributes": {"blocks_": [1, 2]}}, "blocks_.0 must be a Mixture, got int"),
    (DISCRIMINATIVE, {"attributes": {"classes_": {"objects": ["a", "a", "b"]}}}, "classes_ must be distinct"),
    (
        DISCRIMINATIVE,
        {"attributes": {"classes_": {"objects": ["a", 1, {}]}}},
        "classes_|no DiscriminativePSKEM",
    ),
    (DISCRIMINATIVE, {"attributes": {"classes_": {"array": "gone"}}}, "KeyError: 'gone'"),
    (
        DISCRIMINATIVE,
        {"attributes": {"n_features_in_": 10**30}},
        "n_features_in_ must be one value of integers",
    ),
    (DISCRIMINATIVE, {"attributes": {"n_components_": True}}, "n_components_ must be one value of integers"),
    (DISCRIMINATIVE, {"attributes": {"temperature_": -1.0}}, "temperature_ must be from 2.23e-308"),
    (DISCRIMINATIVE, {"attributes": {"temperature_": np.nan}}, "temperature_ must be from 2.23e-308"),
    (DISCRIMINATIVE, {"attributes": {"_fitted_type": "round"}}, "_fitted_type must be one of full, tied"),
    (
        DISCRIMINATIVE,
        {"attributes": {"_fitted_with": {"mapping": {}}}},
        "_fitted_with.covariance_type is missing",
    ),
    (
        DISCRIMINATIVE,
        {"classes_": np.array([[0, 1, 2]])},
        r"classes_ must have shape \(n_classes\), got \(1, 3\)",
    ),
    (
        DISCRIMINATIVE,
        {"generative_blocks_.1.means": np.zeros((4, 3))},
        r"means must have shape \(n_components, features of block 1\), got \(4, 3\); n_components=4 from",
    ),
    (DISCRIMINATIVE, {"blocks_.0.means": np.full((4, 2), 1e200)}, "blocks_.0.means are too far from _shift"),
    (DISCRIMINATIVE, {"generative_blocks_.0.weights": -np.ones((4, 3))}, "weights must be from 0 to"),
    (DISCRIMINATIVE, {"blocks_.0.weights": np.ones((4, 3))}, "blocks_.0.weights must be .* sum to one"),
    (
        DISCRIMINATIVE,
        {"generative_blocks_.0.covariances": -np.ones((4, 2, 2))},
        "must be symmetric and positive",
    ),
    (
        DISCRIMINATIVE,
        {"block_indices_.0": np.array([0, 4])},
        "block_indices_.0 must be from 0 to 3, got .* to 4",
    ),
    (DISCRIMINATIVE, {"block_indices_.0": np.array([-1, 0])}, "block_indices_.0 must be from 0 to 3"),
    (DISCRIMINATIVE, {"class_prior_": np.ones(3)}, "class_prior_ must sum to 1"),
    (DISCRIMINATIVE, {"_scale": np.zeros(4)}, "_scale must be from 2.23e-308"),
    (
        DISCRIMINATIVE,
        {"_shift": np.zeros(3)},
        r"_shift must have shape \(n_features\), got \(3,\); n_features=4 from",
    ),
    (
        CLUSTERS,
        {"_centres": np.empty((0, 4))},
        r"_centres must have shape .*; n_clusters=3 from cluster_centers_",
    ),
    (
        CLUSTERS,
        {"cluster_centers_": np.full((3, 4), 1e200)},
        "cluster_centers_ must be finite, and not so far",
    ),
    (CLUSTERS, {"labels_": np.full(150, -1)}, "labels_ must be from 0 to .*, got values from -1 to -1"),
    (CLUSTERS, {"labels_": np.zeros(150)}, "labels_ must be an array of integers, got float64"),
    ("SDGMClassifierdual", {"support_": np.zeros(1)}, "support_ must be an array of integers, got float64"),
    (
        "SDGMClassifierprimal",
        {"support_": np.array([15])},
        "support_ must be from 0 to 14|coef_ must have shape",
    ),
    ("SDGMClassifierdual", {"component_classes_": np.zeros(3, int)}, "no component of class 1"),
    ("SDGMClassifierdual", {"attributes": {"support_vectors_": None}}, "support_vectors_ must be an array"),
    ("SKEMClassifier", {"blocks_.0.covariances": np.eye(4) + 1}, "must be balls, or .* boxes"),
    ("SKEMClassifier", {"groups_.0": np.array([4])}, "groups_.0 must be from 0 to 3"),
]


@pytest.mark.parametrize(("name", "changes", "words"), IMPOSSIBLE, ids=[words for *_, words in IMPOSSIBLE])
def test_an_impossible_model_is_named(name, changes, words):
    refused(name, edited(name, **changes), f"file: no .*{words}")


def archive(compression=zipfile.ZIP_STORED, **entries):
    """An archive of any bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as file:
        for name, content in entries.items():
            file.writestr(f"{name}.npy", content)
    return stream.getvalue()


def npy(header, content=b""):
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + content


def npy_of(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


HEADER = "{{'descr': {!r}, 'fortran_order': False, 'shape': {}, }}\n"
HAND_MADE = {
    "nothing": b"",
    "no zip": b"PK\x03\x04 and so on",
    "cut off": lambda: saved("KMeans")[0][:-100],
    "nested JSON": lambda: archive(settings=npy_of(np.array("[" * 100_000))),
    "nested attributes": lambda: archive(
        settings=npy_of(
            np.array(
                '{"format": "skem.KMeans", "version": 1, "params": {}, "attributes": {"n": '
                + '{"tuple": [' * 400
                + "]}" * 400
                + "}}"
            )
        )
    ),
    "huge number": lambda: archive(settings=npy_of(np.array("9" * 10_000))),
    "huge shape": lambda: archive(settings=npy(HEADER.format("<f8", (10**15,)))),
    "overflowing shape": lambda: archive(settings=npy(HEADER.format("<f8", (10**30, 10**30)))),
    "negative shape": lambda: archive(settings=npy(HEADER.format("<U1", (-1,)), b"\0" * 8)),
    "endless header": lambda: archive(settings=npy("(" * 5_000)),
    "half a header": lambda: archive(settings=npy("{'descr': '''")),
    "objects": lambda: archive(settings=npy(HEADER.format("|O", ()), b"cposix\nsystem\n.")),
    "compressed": lambda: archive(settings=bytes(10**7), compression=zipfile.ZIP_DEFLATED),
    "another version": lambda: archive(settings=b"\x93NUMPY\x09\x00" + bytes(100)),
}


@pytest.mark.parametrize("kind", HAND_MADE)
@pytest.mark.parametrize("name", ["GaussianMixture", "KMeans"])
def test_a_hand_made_file_is_refused(name, kind):
    content = HAND_MADE[kind]
    refused(name, content if isinstance(content, bytes) else content(), f"file: no {name}: ")
