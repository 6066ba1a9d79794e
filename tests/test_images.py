"""skem.images against slow independent references, and against what the transforms must satisfy."""

import pickle

import numpy as np
import pytest
from scipy.ndimage import affine_transform, center_of_mass
from sklearn.base import clone
from sklearn.datasets import make_low_rank_matrix
from sklearn.decomposition import PCA

from skem.images import (
    CovariancePCA,
    Deskew,
    HalfSize,
    ImageStandardizer,
    Reshape,
    UnitRange,
    WindowPCA,
    augment,
    move,
    pca_recipe,
    random_subset,
    windows,
)

EVERY = [UnitRange(), Deskew(), HalfSize(), ImageStandardizer(scope="global"), Reshape(), CovariancePCA()]


def deskew_slowly(image):
    """One image at a time, through scipy's centre of mass and affine transform."""
    image = np.asarray(image, float)
    if not image.any():
        return image
    centre = np.array(center_of_mass(image))
    offsets = np.indices(image.shape) - centre[:, None, None]
    mu02, mu11 = (offsets[0] * offsets * image / image.sum()).sum(axis=(1, 2))
    matrix = np.array([[1, 0], [mu11 / mu02 if mu02 > 1e-9 else 0, 1]])
    offset = centre - matrix @ ((np.array(image.shape) - 1) / 2)
    return affine_transform(image, matrix, offset=offset, order=1, mode="grid-constant")


def strokes(n, h=28, w=28, seed=0):
    """Images of a slanted stroke, dark at the border, in [0, 1]."""
    y, x = np.mgrid[:h, :w]
    middle, slant = np.random.default_rng(seed).uniform(-0.2, 0.2, (2, n, 1, 1))
    distance = np.abs(x - w * (0.5 + middle) - 5 * slant * (y - h / 2))
    return np.clip(2 - distance, 0, 1) * (np.abs(y - h / 2 - h * middle) < h / 4)


@pytest.mark.parametrize("shape", [(28, 28), (9, 16), (17, 5), (1, 6), (6, 1), (1, 1)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
def test_deskew_is_the_affine_transform(shape, dtype):
    rng = np.random.default_rng(1)
    noise = rng.random((20, *shape)) * (rng.random((20, *shape)) < 0.4)
    for X in (noise, strokes(20, *shape) if min(shape) > 8 else noise):
        X = (X * 255).astype(dtype) if dtype == np.uint8 else X.astype(dtype)
        got = Deskew().fit_transform(X)
        scale = 255 if dtype == np.uint8 else 1
        np.testing.assert_allclose(got, [deskew_slowly(image) for image in X], atol=1e-5 * scale)
        assert got.dtype == (np.float64 if dtype == np.float64 else np.float32)


# Scaling, halving, standardising, reshaping


def test_unit_range():
    bytes_ = np.arange(256, dtype=np.uint8).reshape(1, 16, 16)
    got = UnitRange().fit_transform(bytes_)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got.ravel(), np.arange(256) / 255, rtol=1e-6)
    for dtype in (np.float32, np.float64):
        floats = strokes(2).astype(dtype)
        assert UnitRange().fit_transform(floats).dtype == dtype
        np.testing.assert_array_equal(UnitRange().fit_transform(floats), floats)


@pytest.mark.parametrize("shape", [(5, 6, 8), (5, 6, 8, 3)])
def test_half_size_is_the_mean_of_four(shape):
    X = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    got = HalfSize().fit_transform(X)
    expected = X.reshape(5, 3, 2, 4, 2, *shape[3:]).astype(float).mean(axis=(2, 4))
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("shape", [(7, 6, 8), (7, 6, 8, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_standardising_each_image(shape, dtype):
    X = (np.random.default_rng(0).random(shape) * 200).astype(dtype)
    X[3] = np.array(0.7).astype(dtype)  # 0.7 - mean is 1e-16 in float64
    got = ImageStandardizer().fit_transform(X)
    flat = X.reshape(7, -1).astype(float)
    expected = (flat - flat.mean(axis=1, keepdims=True)) / flat.std(axis=1, keepdims=True).clip(1e-9)
    expected[3] = 0
    np.testing.assert_allclose(got.reshape(7, -1), expected, atol=1e-5)
    assert not got[3].any()


def test_standardising_by_the_training_pixels():
    train, test = strokes(50).astype(np.float32), strokes(10, seed=1).astype(np.float32)
    scaler = ImageStandardizer(scope="global").fit(train)
    assert scaler.mean_ == pytest.approx(train.mean(dtype=float), rel=1e-6)
    assert scaler.scale_ == pytest.approx(train.std(dtype=float), rel=1e-6)
    np.testing.assert_allclose(scaler.transform(test), (test - scaler.mean_) / scaler.scale_, atol=1e-5)
    assert not ImageStandardizer(scope="global").fit_transform(np.full((3, 4, 4), 0.1)).round(12).any()


def test_reshape_there_and_back():
    flat = np.arange(24).reshape(2, 12)
    X = Reshape(shape=(2, 2, 3)).fit_transform(flat)
    assert X.shape == (2, 2, 2, 3)
    np.testing.assert_array_equal(Reshape().fit_transform(X), flat)


@pytest.mark.parametrize(("n", "p", "k"), [(300, 40, 5), (300, 40, 40), (20, 50, 12), (4500, 30, 10)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_covariance_pca_is_pca(n, p, k, dtype):
    X = (make_low_rank_matrix(n, p, effective_rank=8, random_state=0) * 10 + 3).astype(dtype)
    ours, theirs = CovariancePCA(n_components=k).fit(X), PCA(k, svd_solver="full").fit(X.astype(float))
    tol = 1e-3 if dtype == np.float32 else 1e-9
    largest = np.take_along_axis(theirs.components_, np.abs(theirs.components_).argmax(axis=1)[:, None], 1)
    signs = np.sign(largest[:, 0])
    np.testing.assert_allclose(ours.mean_, theirs.mean_, rtol=1e-6)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=tol, atol=1e-9)
    np.testing.assert_allclose(ours.components_, theirs.components_ * signs[:, None], atol=tol)
    scores, expected = ours.transform(X), theirs.transform(X.astype(float)) * signs
    assert scores.dtype == dtype
    np.testing.assert_allclose(scores, expected, atol=tol * np.abs(expected).max())
    np.testing.assert_allclose(ours.components_ @ ours.components_.T, np.eye(k), atol=1e-10)


def test_variances_of_repeated_samples_are_not_negative():
    rows = np.random.default_rng(0).random((30, 5))
    assert CovariancePCA().fit(np.tile(rows, 4)).explained_variance_.min() >= 0


@pytest.mark.parametrize("shape", [(6, 7), (6, 7, 3)])
@pytest.mark.parametrize(("size", "step"), [(3, 2), ((2, 4), (4, 3)), (6, 1)])
def test_windows_are_the_pixels_of_slices(shape, size, step):
    image = np.random.default_rng(0).random(shape)
    height, width = np.broadcast_to(size, 2)
    down, right = np.broadcast_to(step, 2)
    # The axes of the pixels of a window come last.
    views = np.lib.stride_tricks.sliding_window_view(image, (height, width), axis=(0, 1))[::down, ::right]
    expected = views if len(shape) == 2 else np.moveaxis(views, 2, -1)
    got = [image.ravel()[window] for window in windows(shape, size, step)]
    np.testing.assert_array_equal(got, expected.reshape(len(got), -1))


def test_window_pca_is_pca_of_each_window():
    X = strokes(60, 12, 12)
    pca = WindowPCA(size=6, step=3, n_components=4).fit(X)
    got = pca.transform(X)
    places = windows((12, 12), 6, 3)
    assert pca.blocks_.shape == (len(places), 4) == (9, 4)
    for columns, window in zip(pca.blocks_, places, strict=True):
        expected = CovariancePCA(n_components=4).fit_transform(X.reshape(60, -1)[:, window])
        np.testing.assert_allclose(got[:, columns], expected, atol=1e-12)
    with pytest.raises(ValueError, match=r"WindowPCA: fitted to images of shape \(12, 12\), got \(12, 13\)"):
        pca.transform(np.zeros((1, 12, 13)))


def test_recipe_is_its_steps():
    X = (strokes(40) * 255).astype(np.uint8)
    Z = HalfSize().fit_transform(Deskew().fit_transform(X / np.float32(255)))
    Z = ImageStandardizer(scope="global").fit_transform(Z).reshape(40, -1)
    got = pca_recipe(7, deskew=True, half=True).fit_transform(X)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, CovariancePCA(n_components=7).fit_transform(Z), atol=1e-4)


@pytest.mark.parametrize(
    ("standardize", "shape"), [("global", (28, 28)), ("image", (28, 28, 3)), (None, (28, 28))]
)
def test_recipe_learns_from_training_samples_only(standardize, shape):
    X = np.random.default_rng(0).integers(0, 256, (30, *shape), dtype=np.uint8)
    recipe = pca_recipe(5, half=True, standardize=standardize).fit(X[:20])
    one_by_one = np.concatenate([recipe.transform(image[None]) for image in X[20:]])
    np.testing.assert_allclose(recipe.transform(X[20:]), one_by_one, rtol=1e-3, atol=1e-4)


# Bad input

STROKES, SQUARE, PIXELS = strokes(2), np.ones((2, 4, 4)), np.random.default_rng(0).random((8, 20))
REFUSED = [
    (lambda: Deskew().fit(np.ones((5, 784))), r"Deskew: .*\(n, h, w\) is needed, got \(5, 784\); Reshape"),
    (lambda: HalfSize().fit(np.ones(7)), r"\(n, h, w\) or \(n, h, w, channels\) is needed, got \(7,\)"),
    (lambda: HalfSize().transform(np.ones((2, 27, 28))), "both sides must be even, got 27 x 28 pixels"),
    (lambda: UnitRange().fit(np.array([[["a", "b"]]])), "UnitRange: real pixel values expected, got <U1"),
    (lambda: Deskew().fit(np.eye(4)[None] - 0.5), "Deskew: 12 of 16 values are negative"),
    (lambda: Deskew().fit(np.where(STROKES > 0.5, np.nan, 0)), "Deskew: .* of 1568 values are NaN"),
    (lambda: CovariancePCA().fit(np.where(np.eye(9), np.inf, 0)), "CovariancePCA: 9 of 81 values are NaN"),
    (lambda: UnitRange().fit(STROKES * 16), r"uint8 or \[0, 1\] floats, not float64 [-\d]"),
    (lambda: ImageStandardizer(scope="pixel").fit(SQUARE), "scope must be 'image' or 'global', got 'pixel'"),
    (lambda: Reshape(shape=(28, 28)).fit(SQUARE), r"cannot make rows of shape \(28, 28\) of \(2, 4, 4\)"),
    *(
        (lambda k=k: CovariancePCA(n_components=k).fit(PIXELS), f"n_components={k!r} asked of 8 rows")
        for k in (0, 9, 2.5, "mle")
    ),
    (lambda: windows((8, 8), 9, 1), "a window of 9 x 9 pixels does not fit in an image of 8 x 8"),
    (lambda: windows((8, 8), 2, (1, 2, 3)), r"step must be one or two positive integers, got \(1, 2, 3\)"),
    (lambda: windows((64,), 2, 1), r"shape must be \(h, w\) or \(h, w, channels\), got \(64,\)"),
    (lambda: augment(PIXELS, [0, 1]), r"augment: images of shape .* are needed, got \(8, 20\)"),
    (lambda: augment(SQUARE, [0]), "2 images have 1 labels"),
    *(
        (lambda s=s: augment(SQUARE, [0, 1], shifts=s), r"a shift is two integers, \(down, right\), got")
        for s in ([1], [(0, 0.5)], [(0, True)], np.ones((1, 2)))
    ),
    (lambda: augment(SQUARE, [0, 1], shifts=[(0, -4)]), r"shifting by \(0, -4\) leaves nothing of 4 x 4"),
    *(
        (lambda n=n: random_subset(np.zeros(10), n, random_state=0), f"{n!r} rows asked for, there are 10")
        for n in (0, 11, 2.0)
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message[:40] for _, message in REFUSED])
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("transformer", EVERY, ids=repr)
def test_input_and_pickles_of_transformers(transformer):
    X = strokes(10).astype(np.float32)
    X = X.reshape(10, -1) if isinstance(transformer, CovariancePCA) else X
    X.flags.writeable = False
    fitted = clone(transformer).fit(X)
    got = fitted.transform(X)
    assert got.dtype == np.float32
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(X), got)
    np.testing.assert_array_equal(clone(fitted).fit_transform(X), got)


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_features_of_images_have_names_in_frames(container):
    X = np.random.default_rng(0).integers(0, 256, (30, 8, 8), dtype=np.uint8)
    for model in (
        pca_recipe(np.int64(3), deskew=True, half=True),
        WindowPCA(size=np.array([4, 4]), step=np.int64(4), n_components=2),
    ):
        plain = clone(model).fit_transform(X)
        for frame in (model.set_output(transform=container).fit_transform(X), model.transform(X)):
            assert type(frame).__module__.startswith(container)
            assert list(frame.columns) == list(model.get_feature_names_out())
            np.testing.assert_array_equal(frame.to_numpy(), plain)
        assert isinstance(model.set_output(transform="default").transform(X), np.ndarray)
    assert frame.columns[0] == "windowpca0"


@pytest.mark.parametrize("shape", [(3, 4, 5), (3, 4, 5, 2)])
def test_augmented_images_follow_the_images(shape):
    X, y = np.random.default_rng(0).random(shape).astype(np.float32), np.array([4, 5, 6])
    got, labels = augment(X, y, shifts=[(0, 1), (-2, 0)], flips=True)
    assert got.dtype == X.dtype
    np.testing.assert_array_equal(labels, [4, 5, 6] * 6)
    right = X.copy()
    right[:, :, 1:], right[:, :, 0] = X[:, :, :-1], X[:, :, 0]
    up = X.copy()
    up[:, :2], up[:, 2:] = X[:, 2:], X[:, 3:]
    expected = [X, right, up, X[:, :, ::-1], right[:, :, ::-1], up[:, :, ::-1]]
    np.testing.assert_array_equal(got, np.concatenate(expected))
    np.testing.assert_array_equal(augment(X, y)[0], X)
    of_numpy = augment(X, y, shifts=np.array([[0, 1], [-2, 0]]), flips=True)
    np.testing.assert_array_equal(of_numpy[0], got)


@pytest.mark.parametrize(("n", "size"), [(1, 1), (1, 60), (37, 60), (60, 60)])
def test_random_subset_is_a_split(n, size):
    inside, outside = random_subset(np.zeros(size), n, random_state=7)
    assert (len(inside), len(outside)) == (n, size - n)
    np.testing.assert_array_equal(np.sort(np.concatenate([inside, outside])), np.arange(size))
    assert (np.diff(inside) > 0).all()
    assert (np.diff(outside) > 0).all()
    np.testing.assert_array_equal(inside, random_subset(np.ones(size), n, random_state=7)[0])


def test_random_subset_keeps_proportions():
    y = np.repeat([0, 1, 2], [100, 300, 600])
    inside, _ = random_subset(y, 100, random_state=0, stratify=True)
    np.testing.assert_array_equal(np.bincount(y[inside]), [10, 30, 60])
    assert set(inside) != set(random_subset(y, 100, random_state=1, stratify=True)[0])
    assert len(random_subset(y, 1000, random_state=0, stratify=True)[1]) == 0


def test_moves_are_bounded():
    """A bright dot: its centre moves by at most an eighth of the width, its size by a quarter."""
    images = np.zeros((200, 32, 32), np.float32)
    images[:, 14:18, 14:18] = 1.0
    moved = move(images, 3)
    mass = moved.sum(axis=(1, 2))
    rows = (moved.sum(axis=2) * np.arange(32)).sum(axis=1) / mass - 15.5
    assert np.abs(rows).max() <= 4.05
    assert np.abs(rows).mean() == pytest.approx(2, abs=0.3)
    assert 16 * 0.8**2 * 0.9 <= mass.min() < mass.max() <= 16 * 1.25**2 * 1.1
    np.testing.assert_array_equal(moved, move(images, 3))
    colour = move(np.repeat(images[:5, :, :, None], 3, axis=3), 3)
    np.testing.assert_array_equal(colour[..., 2], moved[:5])
