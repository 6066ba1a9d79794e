"""Image features as scikit-learn transformers (LeCun et al. 1998, Proc. IEEE 86; Pulford 2022, section 3.1).

Images are arrays of shape (n, h, w), or (n, h, w, channels) where colour makes sense; `Reshape` turns flat
rows into images and back. Bytes and float32 give float32, float64 stays float64.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import blas, eigh
from scipy.ndimage import affine_transform
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from skem.engine.masked import refuse_masked

CHUNK = 2000  # rows at a time; a constant, since sums taken in another order differ in their last bits


def _check_finite(name: str, X: NDArray) -> None:
    if bad := sum(np.count_nonzero(~np.isfinite(X[rows])) for rows in gen_batches(len(X), CHUNK)):
        raise ValueError(f"{name}: {bad} of {X.size} values are NaN or infinite")


class _ImageTransformer(TransformerMixin, BaseEstimator):
    """Checks a stack of images and treats it chunk by chunk with `_apply`; learns nothing by itself."""

    _ndims: tuple[int, ...] = (3, 4)

    def fit(self, X: ArrayLike, y: object = None) -> _ImageTransformer:
        """Check the images; nothing is learned from them."""
        self._images(X)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.floating]:
        """Treat the images, (n, h, w) or (n, h, w, channels) where allowed; as many come back, as floats."""
        X = self._images(X)
        out = np.empty((len(X), *self._apply(X[:1]).shape[1:]), np.result_type(X, np.float32))
        for rows in gen_batches(len(X), CHUNK):
            out[rows] = self._apply(X[rows])
        return out

    # scikit-learn would make frames of images by default.
    def __init_subclass__(cls, auto_wrap_output_keys: tuple[str, ...] | None = None) -> None:
        super().__init_subclass__(auto_wrap_output_keys)

    def set_output(self, *, transform: str | None = None) -> _ImageTransformer:
        """Do nothing: images are arrays, since a data frame does not hold them."""
        return self

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> ArrayLike | None:
        """Return ``input_features``: the pixels of images have no names of their own."""
        return input_features

    def _images(self, X: ArrayLike) -> NDArray:
        name = type(self).__name__
        refuse_masked(f"{name}: X", X)
        X = np.asarray(X)
        if X.ndim not in self._ndims or X.size == 0:
            allowed = " or ".join(("(n, h, w)", "(n, h, w, channels)")[: len(self._ndims)])
            hint = "; Reshape(shape=(h, w)) makes images of flat rows" if X.ndim == 2 else ""
            raise ValueError(f"{name}: an array of shape {allowed} is needed, got {X.shape}{hint}")
        if X.dtype.kind not in "uif":
            raise ValueError(f"{name}: real pixel values expected, got {X.dtype}")
        _check_finite(name, X)
        return X

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        return tags


class Reshape(_ImageTransformer):
    """Flat rows to images, (n, h*w) to (n, *shape), or back with the default `shape`; no value changes."""

    def __init__(self, *, shape: tuple[int, ...] = (-1,)) -> None:
        self.shape = shape

    def transform(self, X: ArrayLike) -> NDArray:
        """Return `X` in its new shape."""
        refuse_masked("Reshape: X", X)
        X = np.asarray(X)
        try:
            return X.reshape(X.shape[0], *self.shape)
        except (ValueError, IndexError):
            raise ValueError(f"Reshape: cannot make rows of shape {self.shape} of {X.shape}") from None

    _images = transform


class UnitRange(_ImageTransformer):
    """Pixels in [0, 1] (Pulford 2022, section 3.1): bytes are divided by 255, floats must lie there."""

    def _images(self, X: ArrayLike) -> NDArray:
        X = super()._images(X)
        if X.dtype != np.uint8 and (X.dtype.kind != "f" or X.min() < 0 or X.max() > 1):
            raise ValueError(f"UnitRange: uint8 or [0, 1] floats, not {X.dtype} {X.min():g} to {X.max():g}")
        return X

    def _apply(self, images: NDArray) -> NDArray:
        return images / np.float32(255 if images.dtype == np.uint8 else 1)


def _shift(lines: NDArray, shift: NDArray) -> NDArray:
    """Line i of (n, w) read at j + shift[i], j = 0..w-1, by linear interpolation; zero outside."""
    n, w = lines.shape
    start = np.floor(shift)
    padded = np.zeros((n, 3 * w + 2), lines.dtype)
    padded[:, w + 1 : 2 * w + 1] = lines
    windows = np.lib.stride_tricks.sliding_window_view(padded, w + 1, axis=1)
    pairs = windows[np.arange(n), np.clip(start, -w - 1, w).astype(np.intp) + w + 1]
    t = (shift - start).astype(lines.dtype)[:, None]
    return (1 - t) * pairs[:, :-1] + t * pairs[:, 1:]


class Deskew(_ImageTransformer):
    """Shear and centre grey images by moments up to order two (LeCun et al. 1998; Pulford 2022, section 3.1).

    With row y and column x measured from the middle of the image, (cy, cx) the centre of mass and mu the
    central moments, the output at (y, x) is the input at

        y' = y + cy,    x' = x + cx + alpha y,    alpha = mu11 / mu02 = sum (x-cx)(y-cy) I / sum (y-cy)^2 I,

    interpolated bilinearly, with zeros outside. Pixels may have any unit but must not be negative. A blank
    image comes back unchanged; one lit in a single row has no slant to measure and is only centred.
    """

    _ndims = (3,)

    def _images(self, X: ArrayLike) -> NDArray:
        X = super()._images(X)
        if X.min() < 0:
            raise ValueError(f"Deskew: {np.count_nonzero(X < 0)} of {X.size} values are negative")
        return X

    def _apply(self, images: NDArray) -> NDArray:
        n, h, w = images.shape
        y, x = np.arange(h) - (h - 1) / 2, np.arange(w) - (w - 1) / 2
        yy, xx = (a.ravel() for a in np.meshgrid(y, x, indexing="ij"))
        powers = np.stack([np.ones(h * w), yy, xx, yy * yy, xx * yy], axis=1)
        mass, *moments = (images.reshape(n, -1).astype(np.float64) @ powers).T
        cy, cx, m02, m11 = (m / np.where(mass > 0, mass, 1) for m in moments)
        mu02, mu11 = m02 - cy * cy, m11 - cx * cy
        # One lit row leaves rounding in mu02 (1e-14), not 0; a second adds 1e-6 or more to images of bytes.
        alpha = np.where(mu02 > 1e-9, mu11 / np.where(mu02 > 1e-9, mu02, 1), 0)
        # y' is the same all along a row, so bilinear interpolation is linear in y first, then in x.
        columns = images.transpose(0, 2, 1).reshape(n * w, h).astype(np.result_type(images, np.float32))
        lines = _shift(columns, np.repeat(cy, w)).reshape(n, w, h).transpose(0, 2, 1).reshape(n * h, w)
        return _shift(lines, np.ravel(cx[:, None] + alpha[:, None] * y)).reshape(n, h, w)


class HalfSize(_ImageTransformer):
    """Halve both sides by the mean of 2 x 2 pixels: 28 x 28 to 14 x 14 (Pulford 2022, section 3.3)."""

    def _images(self, X: ArrayLike) -> NDArray:
        X = super()._images(X)
        if X.shape[1] % 2 or X.shape[2] % 2:
            raise ValueError(f"HalfSize: both sides must be even, got {X.shape[1]} x {X.shape[2]} pixels")
        return X

    def _apply(self, images: NDArray) -> NDArray:
        Z = images * np.float32(0.25)
        return Z[:, ::2, ::2] + Z[:, 1::2, ::2] + Z[:, ::2, 1::2] + Z[:, 1::2, 1::2]


class ImageStandardizer(_ImageTransformer):
    """Subtract a mean, divide by a standard deviation (Pulford 2022, section 3.1, which does not say whose).

    Parameters
    ----------
    scope : {"image", "global"}, default="image"
        "image": each image by the mean and standard deviation of its own pixels, a constant image becoming zeros.
        "global": every pixel by the one mean and standard deviation of all pixels of the training images.

    Attributes
    ----------
    mean_, scale_ : float
        Mean and standard deviation of the training pixels, with scope="global" only. `scale_` is 1 where all of them are equal.
    """

    def __init__(self, *, scope: str = "image") -> None:
        self.scope = scope

    def fit(self, X: ArrayLike, y: object = None) -> ImageStandardizer:
        """Learn the mean and standard deviation of all pixels with scope="global", else nothing."""
        if self.scope not in ("image", "global"):
            raise ValueError(f"ImageStandardizer: scope must be 'image' or 'global', got {self.scope!r}")
        X = self._images(X)
        if self.scope == "global":
            self.mean_ = float(X.mean(dtype=np.float64))
            deviations = (X[rows] - self.mean_ for rows in gen_batches(len(X), CHUNK))
            variance = sum(np.square(d, dtype=np.float64).sum() for d in deviations) / X.size
            self.scale_ = float(np.sqrt(variance)) if X.min() < X.max() else 1.0
        return self

    def _apply(self, images: NDArray) -> NDArray:
        check_is_fitted(self)
        Z = images.astype(np.float64)
        if self.scope == "global":
            return (Z - self.mean_) / self.scale_
        axes = tuple(range(1, Z.ndim))
        constant = np.ptp(Z, axes, keepdims=True) == 0
        Z = np.where(constant, 0, Z - Z.mean(axes, keepdims=True))
        return Z / np.where(constant, 1, Z.std(axes, keepdims=True))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = self.scope != "image"
        return tags


class CovariancePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Projection on the leading eigenvectors of the sample covariance (Pulford 2022, section 3.1).

    Computes the wanted eigenvectors only, from rows centred chunk by chunk and multiplied in their own
    precision. In float32 neighbouring components would mix by up to 5e-4 (MNIST, 150 of them), so 16 more are
    found than wanted and turned, within their span, to the axes of their scores' covariance summed in float64
    (the Rayleigh-Ritz step), which leaves 4e-5.

    Parameters
    ----------
    n_components : int or None, default=None
        How many; None is the smaller number of rows and features.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal, by falling variance; in each the entry largest in size is positive.
    explained_variance_, mean_ : ndarray of shape (n_components,) and (n_features,)
        Variance along each component, with divisor n - 1; mean of the rows.
    """

    def __init__(self, *, n_components: int | None = None) -> None:
        self.n_components = n_components

    def fit(self, X: ArrayLike, y: object = None) -> CovariancePCA:
        """Find the components of `X`, of shape (n, n_features)."""
        X = self._rows(X, reset=True, ensure_min_samples=2)
        n, p = X.shape
        k = min(n, p) if self.n_components is None else self.n_components
        if not _is_integer(k) or not 1 <= k <= min(n, p):
            raise ValueError(f"CovariancePCA: n_components={k!r} asked of {n} rows and {p} features")
        k = int(k)
        self.mean_ = sum(X[rows].sum(axis=0, dtype=np.float64) for rows in gen_batches(n, CHUNK)) / n
        syrk = blas.get_blas_funcs("syrk", dtype=X.dtype)
        scatter = np.zeros((p, p), X.dtype, order="F")
        for Z in self._centred(X):
            scatter = syrk(1, Z.T, beta=1, c=scatter, overwrite_c=1, lower=1)
        V = eigh(scatter.astype(np.float64), lower=True, subset_by_index=[max(p - k - 16, 0), p - 1])[1]
        scores = ((Z @ V.astype(X.dtype)).astype(np.float64) for Z in self._centred(X))
        variance, U = eigh(sum(F.T @ F for F in scores) / (n - 1))
        W = (V @ U[:, ::-1][:, :k]).T
        self.components_ = np.copysign(1, W[np.arange(k), np.abs(W).argmax(axis=1)])[:, None] * W
        self.explained_variance_ = np.maximum(variance[::-1][:k], 0)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.floating]:
        """Return the scores of `X`, (n, n_components), in its units and precision."""
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        return np.concatenate([Z @ self.components_.T.astype(X.dtype) for Z in self._centred(X)])

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _rows(self, X: ArrayLike, **checks) -> NDArray[np.floating]:
        refuse_masked("CovariancePCA: X", X)
        Z: NDArray = validate_data(self, X, dtype=[np.float64, np.float32], ensure_all_finite=False, **checks)
        _check_finite("CovariancePCA", Z)
        return Z

    def _centred(self, X: NDArray) -> Iterator[NDArray]:
        return (X[rows] - self.mean_.astype(X.dtype) for rows in gen_batches(len(X), CHUNK))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def windows(shape: Sequence[int], size: int | tuple[int, int], step: int | tuple[int, int]) -> list[NDArray]:
    """Pixels of each window of an image, as indices into its flat row: blocks for ``arrangement``.

    Parameters
    ----------
    shape : (h, w) or (h, w, channels)
    size, step : int or (rows, columns)
        Side of a window, and distance from one to the next, in pixels. Windows lie within the image: where steps do not end at its
        border, the last rows or columns are in no window.

    Returns
    -------
    list of ndarray of shape (rows * columns * channels,)
        From left to right, then down.

    Raises
    ------
    ValueError
        A window larger than the image, or sizes and steps that are not positive integers.
    """
    sides = tuple(shape)
    if len(sides) not in (2, 3):
        raise ValueError(f"windows: shape must be (h, w) or (h, w, channels), got {sides}")
    height, width = _pair("size", size)
    down, right = _pair("step", step)
    if height > sides[0] or width > sides[1]:
        raise ValueError(
            f"windows: a window of {height} x {width} pixels does not fit in an image of {sides[0]} x {sides[1]}"
        )
    pixels = np.arange(np.prod(sides)).reshape(sides)
    return [
        pixels[top : top + height, left : left + width].ravel()
        for top in range(0, sides[0] - height + 1, down)
        for left in range(0, sides[1] - width + 1, right)
    ]


def _pair(name: str, value: int | tuple[int, int]) -> tuple[int, int]:
    pair = _integers((value, value) if np.ndim(value) == 0 else value)
    if len(pair) != 2 or min(pair) < 1:
        raise ValueError(f"windows: {name} must be one or two positive integers, got {value!r}")
    return pair[0], pair[1]


def _integers(values: Any) -> tuple[int, ...]:
    """Integers in a sequence or array, as Python's; none if another value is among them."""
    listed = list(values) if np.ndim(values) == 1 else []
    return tuple(map(int, listed)) if all(map(_is_integer, listed)) else ()


def _is_integer(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


class WindowPCA(ClassNamePrefixFeaturesOutMixin, _ImageTransformer, auto_wrap_output_keys=("transform",)):
    """Principal components of every window of an image, side by side: one block of features per position.

    Parameters
    ----------
    size, step : int or (rows, columns)
        See `windows`.
    n_components : int
        Number of components of each window.

    Attributes
    ----------
    blocks_ : ndarray of shape (n_windows, n_components)
        Columns of the features of each window, for ``arrangement``. Since they follow one another, as many blocks in
        sequence are the same.
    pcas_ : list of CovariancePCA
        Transformers, one per window.
    """

    def __init__(
        self,
        *,
        size: int | tuple[int, int] = 8,
        step: int | tuple[int, int] = 4,
        n_components: int = 20,
    ) -> None:
        self.size = size
        self.step = step
        self.n_components = n_components

    def fit(self, X: ArrayLike, y: object = None) -> WindowPCA:
        """Find the components of each window of the images, (n, h, w) or (n, h, w, channels)."""
        X = self._images(X)
        self._shape = X.shape[1:]
        self._windows = windows(self._shape, self.size, self.step)
        self.pcas_ = [
            CovariancePCA(n_components=self.n_components).fit(self._pixels(X, window))
            for window in self._windows
        ]
        self._n_features_out = len(self.pcas_) * self.n_components
        self.blocks_ = np.arange(self._n_features_out).reshape(len(self.pcas_), -1)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.floating]:
        """Return the scores of every window, (n, n_windows * n_components)."""
        return super().transform(X)

    def set_output(self, *, transform: str | None = None) -> WindowPCA:
        """Set the container of the features: "default", "pandas" or "polars"."""
        return TransformerMixin.set_output(self, transform=transform)

    def _apply(self, images: NDArray) -> NDArray:
        check_is_fitted(self)
        if images.shape[1:] != self._shape:
            raise ValueError(f"WindowPCA: fitted to images of shape {self._shape}, got {images.shape[1:]}")
        scores = [
            pca.transform(self._pixels(images, window))
            for pca, window in zip(self.pcas_, self._windows, strict=True)
        ]
        return np.concatenate(scores, axis=1)

    @staticmethod
    def _pixels(images: NDArray, window: NDArray) -> NDArray:
        return images.reshape(len(images), -1)[:, window].astype(np.result_type(images, np.float32))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = True
        return tags


def pca_recipe(
    n_components: int, *, deskew: bool = False, half: bool = False, standardize: str | None = "global"
) -> Pipeline:
    """From images to `n_components` features, all learned from the rows fitted (Pulford 2022, section 3.1).

    `standardize` is the `scope` of `ImageStandardizer`, or None for none. `deskew` is for grey images.
    """
    steps = [
        ("range", UnitRange()),
        ("deskew", Deskew() if deskew else None),
        ("half", HalfSize() if half else None),
        ("standardize", ImageStandardizer(scope=standardize) if standardize is not None else None),
        ("flatten", Reshape()),
        ("pca", CovariancePCA(n_components=n_components)),
    ]
    return Pipeline([(name, step or "passthrough") for name, step in steps])


def move(X: ArrayLike, random_state: int) -> NDArray:
    """Images shifted by up to an eighth of their width, turned by up to 15 degrees and scaled by .8 to 1.25.

    Each by amounts of its own, with linear interpolation; what comes in from outside repeats the border. `X` is
    (n, h, w) or (n, h, w, channels); the same shape and dtype come back.
    """
    X = np.asarray(X)
    rng = np.random.default_rng(random_state)
    centre = (np.array(X.shape[1:3]) - 1) / 2
    moved = np.empty_like(X)
    # SciPy has no float16.
    for i, image in enumerate(X.astype(np.float32) if X.dtype == np.float16 else X):
        angle, scale = np.deg2rad(rng.uniform(-15, 15)), 2 ** rng.uniform(np.log2(0.8), np.log2(1.25))
        shift = rng.uniform(-1, 1, size=2) * np.array(X.shape[1:3]) / 8
        matrix = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / scale
        offset = centre - matrix @ (centre + shift)
        for channel in np.ndindex(image.shape[2:]):
            at = (slice(None), slice(None), *channel)
            moved[i][at] = affine_transform(image[at], matrix, offset, order=1, mode="nearest")
    return moved


def augment(
    X: ArrayLike, y: ArrayLike, *, shifts: Sequence[tuple[int, int]] = (), flips: bool = False
) -> tuple[NDArray, NDArray]:
    """Training images and their labels, followed by copies that are shifted or mirrored.

    Parameters
    ----------
    X : array-like of shape (n, h, w) or (n, h, w, channels)
    y : array-like of shape (n,)
    shifts : sequence of (down, right)
        Pixels; one copy of all images for each. Pixels from outside repeat the border.
    flips : bool, default=False
        If True, images and their shifted copies are also mirrored left to right.

    Returns
    -------
    X, y : ndarray
        With (1 + len(shifts)) * (1 + flips) times as many rows: all images, then all of the first copy, and so on.

    Raises
    ------
    ValueError
        Not as many labels as images; shifts that are not pairs of integers, or as wide as the image.
    """
    X, y = np.asarray(X), np.asarray(y)
    if X.ndim not in (3, 4):
        raise ValueError(
            f"augment: images of shape (n, h, w) or (n, h, w, channels) are needed, got {X.shape}"
        )
    if len(X) != len(y):
        raise ValueError(f"augment: {len(X)} images have {len(y)} labels")
    copies = [X, *(_shifted(X, shift) for shift in shifts)]
    if flips:
        copies += [copy[:, :, ::-1] for copy in copies]
    return np.concatenate(copies), np.tile(y, len(copies))


def _shifted(X: NDArray, shift: tuple[int, int]) -> NDArray:
    """Images moved by whole pixels, the border repeated."""
    pair = _integers(shift)
    if len(pair) != 2:
        raise ValueError(f"augment: a shift is two integers, (down, right), got {shift!r}")
    (down, right), (height, width) = pair, X.shape[1:3]
    if abs(down) >= height or abs(right) >= width:
        raise ValueError(f"augment: shifting by {pair} leaves nothing of {height} x {width} pixels")
    rows = (np.arange(height) - down).clip(0, height - 1)
    columns = (np.arange(width) - right).clip(0, width - 1)
    return X[:, rows[:, None], columns]


def random_subset(
    y: ArrayLike, n: int, *, random_state: int | np.random.RandomState | None, stratify: bool = False
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw `n` of the rows labelled `y`, as Pulford 2022, section 3.1, draws 30,000.

    Returns two sorted arrays of row numbers: drawn, and the rest. `stratify` keeps the class proportions.
    """
    y = np.asarray(y)
    if not _is_integer(n) or not 1 <= n <= len(y):
        raise ValueError(f"random_subset: {n!r} rows asked for, there are {len(y)}")
    if n == len(y):
        return np.arange(n), np.arange(0)
    drawn = {"train_size": n, "stratify": y if stratify else None, "random_state": random_state}
    try:
        inside, outside = train_test_split(np.arange(len(y)), **drawn)
    except ValueError as error:
        raise ValueError(f"random_subset: {n} of {len(y)} rows cannot be stratified: {error}") from None
    return np.sort(inside), np.sort(outside)
