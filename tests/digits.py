"""Random mixtures and samples, and their log-densities to forty digits: `python tests/digits.py 10000` tries as many.

The library promises that log p(x|c) of one block is within 1e-3 + 1e-6 |log p| nats of the exact value for float32 samples,
whether or not it computes in float32, and within 1e-6 (1 + |log p|) for float64 samples. Samples with the largest differences
between the two, and a few at random, are computed to forty digits. The seed alone decides which mixture is drawn.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from decimal import Context, Decimal, localcontext
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from scipy.special import logsumexp

from skem.engine import em, problem
from skem.engine.covariances import COVARIANCE_TYPES
from skem.engine.density import Block, class_log_density
from skem.engine.linalg import regularity
from skem.engine.parameters import Mixture
from skem.engine.parts import PartsInMemory
from skem.engine.problem import Problem
from skem.engine.rows import Rows
from skem.engine.threads import Workers, single_threaded

DIGITS = 40
decimals = np.frompyfunc(Decimal, 1, 1)
LOG_2PI = Decimal("1.8378770664093454835606594728112352797228")


class Drawn(NamedTuple):
    X: np.ndarray  # (n, m), float32
    codes: np.ndarray  # (n,)
    shift: np.ndarray  # (m,)
    scale: np.ndarray  # (m,)
    mixture: Mixture  # in units of (X - shift) / scale
    covariance_type: object
    ridge: float


def truth(drawn, rows):
    """log N(x; mu_k, P_k) of some rows, (K, n), all operations to forty digits, then rounded; and the worst condition."""
    K, m = drawn.mixture.means.shape
    matrices = drawn.covariance_type.of_components(drawn.mixture.covariances, K, m)
    if drawn.covariance_type.diagonal:
        matrices = matrices[:, :, None] * np.eye(m)
    with localcontext(Context(prec=DIGITS)):
        x = (decimals(drawn.X[rows].astype(float)) - decimals(drawn.shift)) / decimals(drawn.scale)
        result = np.empty((K, len(rows)))
        for k in range(K):
            P, L = decimals(matrices[k]), np.full((m, m), Decimal(0))
            z = (x - decimals(drawn.mixture.means[k])).T
            for i in range(m):
                L[i, i] = (P[i, i] - L[i, :i] @ L[i, :i]).sqrt() if i else P[0, 0].sqrt()
                z[i] = (z[i] - L[i, :i] @ z[:i]) / L[i, i] if i else z[0] / L[0, 0]
                for j in range(i + 1, m):
                    L[j, i] = (P[j, i] - (L[j, :i] @ L[i, :i] if i else 0)) / L[i, i]
            log_root = m * LOG_2PI / 2 + np.prod(L.diagonal()).ln()  # one logarithm, which takes longest
            result[k] = (-(z * z).sum(axis=0) / 2 - log_root).astype(float)
    deviations = np.sqrt(np.einsum("kii->ki", matrices))
    return result, np.linalg.cond(matrices / deviations[:, :, None] / deviations[:, None]).max()


def draw(rng):
    """Clusters of any shape, and components near them or anywhere."""
    m, L = int(rng.choice([1, 2, 3, 5, 8, 13, 40], p=[*[0.16] * 6, 0.04])), int(rng.integers(1, 4))
    K, n = int(rng.integers(max(L, 2), 25)), int(rng.choice([30, 150, 600, 3500]))
    centres = 10.0 ** rng.uniform(-1, 3) * rng.normal(size=(int(rng.integers(1, 2 * K)), m))
    turns = rng.normal(size=(len(centres), m, m))
    narrowness = 10.0 ** -rng.uniform(0, rng.choice([0, 1, 3, 5]), (len(centres), 1, m))
    of = rng.integers(0, len(centres), n)
    tails = rng.choice([1.5, 4.0, 100.0], p=[0.15, 0.25, 0.6])
    noise = rng.standard_t(tails, (n, m)) if tails < 100 else rng.normal(size=(n, m))
    X = centres[of] + np.einsum("nij,nj->ni", (turns * narrowness)[of], noise)
    if rng.random() < 0.1:
        X = np.round(X)
    if rng.random() < 0.2:
        X = X[rng.integers(0, max(1, n // 4), n)]
    if rng.random() < 0.3:
        X *= 10.0 ** rng.uniform(-6, 6, m)
    if rng.random() < 0.3:
        X += X.std() * 10.0 ** rng.uniform(0, 5)
    X = X.astype(np.float32)
    codes = np.sort(np.arange(n) % L)[rng.permutation(n)] if rng.random() < 0.5 else of % L
    codes = np.unique(codes, return_inverse=True)[1]
    L = codes.max() + 1
    shift, scale = X.mean(axis=0, dtype=float), X.std(axis=0, dtype=float)
    if rng.random() < 0.3:
        scale[:] = 2.0 ** np.round(np.log2(max(scale.max(), 1e-30)))
    scale[scale == 0] = 1.0
    x = (X - shift) / scale
    variances = np.maximum(x.var(axis=0), 1e-12)
    kind = rng.choice(["rows", "clusters", "equal"])
    if kind == "equal":
        means = rng.uniform(-1, 1, (K, m))
        matrices = np.repeat(np.eye(m)[None] * 10.0 ** rng.uniform(-1, 10), K, axis=0)
    else:
        chosen = rng.integers(0, n, K)
        means = x[chosen]
        matrices = np.repeat(np.diag(variances)[None] * 10.0 ** rng.uniform(-4, 1), K, axis=0)
        if kind == "clusters":
            own = (turns * narrowness)[of[chosen]] * (
                np.ptp(x, axis=0) / np.maximum(np.ptp(X, axis=0), 1e-30)
            )[:, None]
            matrices = own @ np.swapaxes(own, 1, 2) + 1e-9 * np.diag(variances)
    covariance_type = COVARIANCE_TYPES[str(rng.choice(["full", "full", "tied", "diag", "spherical"]))]
    weights = rng.dirichlet(np.full(K, 10.0 ** rng.uniform(-2, 1)), L).T + 1e-300
    mixture = Mixture(
        weights / weights.sum(axis=0),
        means,
        covariance_type.compress(np.einsum("kii->ki", matrices) if covariance_type.diagonal else matrices),
    )
    ridge = float(rng.choice([0.0, 1e-6, 1e-3, 0.03]))
    return Drawn(X, codes, shift, scale, mixture, covariance_type, ridge)


def problem_of(drawn, workers, dtype=np.float32):
    weights = np.ones(len(drawn.X))
    parts = PartsInMemory(drawn.X.astype(dtype), drawn.codes, weights, drawn.shift, drawn.scale)
    return Problem(
        parts, np.arange(drawn.X.shape[1]), drawn.mixture, drawn.covariance_type, workers, ridge=drawn.ridge
    )


class Errors(NamedTuple):
    """Largest errors of a mixture over what is promised."""

    float32: float  # log p(x|c) of float32 samples
    float64: float  # log p(x|c) of float64 samples
    training: float  # mean log p(x|c) in training on float32 samples, against float64 samples


def promise(log_density, dtype):
    size = np.abs(log_density)
    return 1e-3 + 1e-6 * size if dtype == np.float32 else 1e-6 * (1 + size)


def errors(seed):
    """Errors of the mixture of a seed; None where a covariance is singular."""
    rng = np.random.default_rng(seed)
    one_chunk = patch.object(problem, "ONE_CHUNK", problem.ONE_CHUNK if rng.random() < 0.5 else 0)
    with one_chunk, Workers() as workers, single_threaded():
        drawn = draw(rng)
        covariances = drawn.mixture.covariances
        if not (regularity(covariances).all() if covariances.shape[-2:] == (len(drawn.shift),) * 2 else True):
            return None
        n_iter = int(rng.integers(1, 6)) if rng.random() < 0.7 else 0
        for state in em.iterations(problem_of(drawn, workers), n_iter) if n_iter else ():
            drawn = drawn._replace(mixture=state.mixture)
        block = Block(np.arange(drawn.X.shape[1]), drawn.mixture, drawn.covariance_type)
        found, means = {}, []
        for dtype in (np.float32, np.float64):
            features = Rows(drawn.X.astype(dtype), None, drawn.shift, drawn.scale)
            in_input_units = class_log_density(features, [block], workers)
            found[dtype] = in_input_units + block.log_volume(features, slice(None))
            of_training = problem_of(drawn, workers, dtype)
            statistics = em.expectation(of_training, em.initial(of_training), with_sums=False)
            means.append(statistics.log_likelihood / len(drawn.X))
    difference = np.abs(found[np.float32] - found[np.float64]).max(axis=1)
    rows = np.union1d(np.argsort(-difference)[:6], rng.integers(0, len(difference), 4))
    of_components, condition = truth(drawn, rows)
    with np.errstate(divide="ignore"):
        log_weights = np.log(drawn.mixture.weights)
    exact = logsumexp(of_components[:, :, None] + log_weights[:, None], axis=0)
    # Float64 cannot do better with a Cholesky factor of a covariance so ill-conditioned.
    attainable = 8 * drawn.X.shape[1] * np.finfo(float).eps * condition * (1 + np.abs(exact))
    narrow, wide = (
        (np.abs(found[dtype][rows] - exact) / (promise(exact, dtype) + attainable)).max()
        for dtype in (np.float32, np.float64)
    )
    training = abs(means[0] - means[1]) / promise(means[1], np.float32)
    return Errors(narrow, wide, training)


if __name__ == "__main__":
    n, first = (int(argument) for argument in [*sys.argv[1:], "0"][:2])
    seeds, failed = range(first, first + n), 0
    with ProcessPoolExecutor(2) as pool:
        for seed, found in zip(seeds, pool.map(errors, seeds, chunksize=50), strict=True):
            if found is not None and max(found) >= 1:
                failed += 1
                print(seed, found, flush=True)
    print(f"{failed} of {n} mixtures break the promise")
    sys.exit(bool(failed))
