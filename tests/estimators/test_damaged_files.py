"""Damaged files and files made by hand: a ValueError names the array, and nothing worse happens."""

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
    "discriminative": DiscriminativePSKEMClassifier(4, n_blocks=2, max_iter=1, discriminative_iter=1),
    "mixture": GaussianMixture(4, max_iter=2, tol=0),
    "k-means": KMeans(3),
    "dual": SDGMClassifier(1, max_iter=2, em_iter=2, tol=0),
    "primal": SDGMClassifier(1, form="primal", max_iter=2, em_iter=2, tol=0),
    "spherical": SKEMClassifier(4, covariance_type="spherical", options={"sharing": 0.5}, max_iter=1),
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
    with pytest.raises(ValueError, match=f"^file: no {type(MODELS[name]).__name__}: .*({words})"):
        load(name, content)


CHANGES = {
    "repeated": lambda array: np.repeat(array, 400, axis=0),
    "empty": lambda array: array[:0],
    "complex": lambda array: array.astype(complex),
    "NaN": lambda array: array * np.nan,
}
ALLOWED = {
    "repeated": r"labels_|groups_\..*",  # the number of training samples, or of components, is known nowhere else
    "NaN": r"\w*(objective|log_likelihood)_",
}


@every_model
@pytest.mark.parametrize("change", CHANGES)
def test_every_array_is_checked(name, change):
    arrays = saved(name)[1]
    for array in arrays.keys() - {"settings"}:
        if not re.fullmatch(ALLOWED.get(change, "-"), array):
            with np.errstate(all="ignore"):
                bad = CHANGES[change](arrays[array])
            # An array that is too long may set the shape that others must have.
            refused(name, edited(name, **{array: bad}), "" if change == "repeated" else re.escape(array))


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


SETTINGS = [
    ("format", "other", "not saved by skem, or damaged or cut off"),
    ("version", 2, "version 2 of the format; this skem reads version 1"),
    ("params", {"n_blocks": 0}, "n_blocks"),
    ("attributes", {}, "n_features_in_ is missing"),
]
ATTRIBUTES = [
    ("fit", 1, "fit is not an attribute of a fitted"),
    ("blocks_", [], "blocks_ must have 2 elements, got 0"),
    ("classes_", {"objects": ["a", "a", "b"]}, "classes_ must be .* distinct labels in increasing order"),
    ("classes_", {"array": "gone"}, "KeyError: 'gone'"),
    ("n_components_", True, "n_components_ must be one integer, got True"),
    ("temperature_", -1.0, "temperature_ must be at least 1e-06"),
    ("_fitted_type", "round", "_fitted_type must be one of full, tied"),
    ("_fitted_with", {"mapping": {}}, "_fitted_with must be a mapping with covariance_type"),
]
ARRAYS = {
    "discriminative": [
        ("generative_blocks_.0.weights", -np.ones((4, 3)), "weights must be at least 0"),
        ("blocks_.0.weights", np.ones((4, 3)), "blocks_.0.weights must .*sum to"),
        ("blocks_.0.means", np.full((4, 2), 1e200), "blocks_.0.means are too far from _shift"),
        ("blocks_.0.covariances", -np.ones((4, 2, 2)), "must be symmetric and positive"),
        ("block_indices_.0", [0, 4], "block_indices_.0 must be from 0 to 3, got values from 0 to 4"),
        ("priors_", np.ones(3), "priors_ must be non-negative and sum to one"),
        ("_shift", np.zeros(3), r"(_shift|_scale) must have shape"),
    ],
    "mixture": [
        ("_scale", np.zeros(4), "_scale must be at least 2.23e-308"),
        ("_scale", np.full(4, 1e-200), "covariances_ are too large, or _scale too small"),
    ],
    "k-means": [
        ("cluster_centers_", np.full((3, 4), 1e200), "cluster_centers_ must be finite, and not so far"),
        ("labels_", np.full(150, -1), "labels_ must be at least 0, got values from -1 to -1"),
    ],
    "dual": [
        ("component_classes_", [0, 0, 0], "no component of class 1"),
    ],
    "primal": [("support_", np.full(14, 15), "support_ must be from 0 to 14, got values from 15 to 15")],
    "spherical": [
        ("blocks_.0.covariances", np.eye(4) + 1, "must be balls, or .* boxes"),
        ("groups_.0", [4], "groups_.0 must be from 0 to 3"),
    ],
}
IMPOSSIBLE = [
    *(("discriminative", {"settings": {name: value}}, words) for name, value, words in SETTINGS),
    *(("discriminative", {"attributes": {name: value}}, words) for name, value, words in ATTRIBUTES),
    *((name, {array: np.array(bad)}, words) for name, cases in ARRAYS.items() for array, bad, words in cases),
    ("dual", {"attributes": {"support_vectors_": None}}, "support_vectors_ must be an array"),
    ("dual", {"attributes": {"_map": {"mapping": {}}}}, "_map must be a FeatureMap, got dict"),
]


@pytest.mark.parametrize(("name", "changes", "words"), IMPOSSIBLE)
def test_an_impossible_model(name, changes, words):
    refused(name, edited(name, **changes), words)


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
NESTED = """{"format": "skem.KMeans", "version": 1, "params": {}, "attributes": {"n": %s 0 %s}}"""
HAND_MADE = {
    "nothing": bytes,
    "cut off": lambda: saved("k-means")[0][:-100],
    "nested": lambda: archive(settings=npy_of(np.array(NESTED % ('{"tuple": [' * 400, "]}" * 400)))),
    "huge shape": lambda: archive(settings=npy(HEADER.format("<f8", (10**15,)))),
    "objects": lambda: archive(settings=npy(HEADER.format("|O", ()), b"cposix\nsystem\n.")),
    "compressed": lambda: archive(settings=bytes(10**7), compression=zipfile.ZIP_DEFLATED),
}


@pytest.mark.parametrize("content", HAND_MADE.values(), ids=HAND_MADE)
def test_a_hand_made_file(content):
    refused("k-means", content(), "")
