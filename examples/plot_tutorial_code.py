"""
Tutorial: from an EM iteration to a claim
=========================================

For somebody who takes over the code: one EM iteration as equations beside the engine, the reason for its speed, and the way from numbers
to the outcome of a claim. The page takes some seconds.
"""

# %%
# An iteration in NumPy
# ---------------------
# The E-step computes responsibilities from log-densities, the M-step weights, means and covariances. Sums are taken about the old mean,
# so nothing large cancels (Contribute, Algebra). ``reg_covar`` regularises the covariance.

import json
import timeit
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn import mixture
from sklearn.exceptions import ConvergenceWarning

import skem
from skem import GaussianMixture

rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 4)) + rng.choice([0, 3], size=(2000, 1))
weights, means = np.full(3, 1 / 3), X[:3]
covariances = np.repeat(np.cov(X.T)[None], 3, axis=0)


def iteration(X, weights, means, covariances, reg_covar):
    log_joint = np.column_stack(
        [
            np.log(w) + multivariate_normal.logpdf(X, m, P)
            for w, m, P in zip(weights, means, covariances, strict=True)
        ]
    )
    r = np.exp(log_joint - logsumexp(log_joint, axis=1, keepdims=True))
    s0 = r.sum(axis=0)
    centred = X[:, None, :] - means
    shift = np.einsum("nk,nkm->km", r, centred) / s0[:, None]
    S = np.einsum("nk,nka,nkb->kab", r, centred, centred) / s0[:, None, None]
    P = S - shift[:, :, None] * shift[:, None, :] + reg_covar * np.eye(X.shape[1])
    return s0 / len(X), means + shift, P


# %%
# The engine's iteration is the same. Any number of threads gives the same bits.

given = GaussianMixture.from_parameters(weights, means, covariances)
given.set_params(reg_covar=0.01, max_iter=1, tol=0.0, warm_start=True)
ours = given.fit(X)
expected = iteration(X, weights, means, covariances, 0.01)
for name, value in zip(("weights_", "means_", "covariances_"), expected, strict=True):
    print(f"{name:12} largest difference {np.abs(getattr(ours, name) - value).max():.0e}")

fits = [GaussianMixture(8, n_jobs=n, random_state=0).fit(X).means_ for n in (1, 2)]
print("the same bits with one thread and two:", fits[0].tobytes() == fits[1].tobytes())

# %%
# Time
# ----
# scikit-learn forms arrays of all samples and components, the engine works on tiles that stay in the cache (Contribute, Architecture).

warnings.simplefilter("ignore", ConvergenceWarning)
sizes = [1000, 4000, 16000]
models = {
    "skem": GaussianMixture(20, init_params="sample", tol=0.0, random_state=0),
    "scikit-learn": mixture.GaussianMixture(20, init_params="random_from_data", tol=0.0, random_state=0),
}


def seconds_to_fit(model, samples, max_iter):
    """Least of three times, since other programs may run beside."""
    model.set_params(max_iter=max_iter)
    return min(timeit.repeat(lambda: model.fit(samples), number=1, repeat=3))


seconds = {name: [] for name in models}
for n in sizes:
    samples = rng.normal(size=(n, 12))
    for name, model in models.items():
        longer, shorter = (seconds_to_fit(model, samples, max_iter) for max_iter in (21, 1))
        seconds[name].append((longer - shorter) / 20)
figure, ax = plt.subplots(figsize=(5.6, 3), layout="constrained")
for name, values in seconds.items():
    ax.loglog(sizes, values, "o-", label=name)
ax.set(xlabel="samples", ylabel="seconds per iteration")
ax.legend()
plt.show()

# %%
# From numbers to outcomes
# ------------------------
# ``config/claims.csv`` states the claims, a run measures them, and one rule gives each an outcome. The committed results have all of it:

reference = Path(skem.__file__).parents[1] / "results/reference"
claims = pd.read_csv(reference / "claims.csv").set_index("id")
row = claims.loc["pulford.table1.ionosphere.pskem_accuracy"]
print(row[["value", "measured", "low", "high", "n_runs", "outcome"]].to_string())

totals = json.loads((reference / "summary.json").read_text())
words = ["agrees", "depends", "differs", "open", "undecidable", "not_run"]
print(pd.DataFrame(totals).loc[words].to_string())

# %%
# ``snakemake recompute --cores 1`` evaluates every claim again from the committed values. To change something: ``pytest -n auto``, then
# ``snakemake regress``, which compares accuracies and times with the last reference.
