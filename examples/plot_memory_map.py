"""
A mixture from a memory map
===========================

``GaussianMixture`` models a density without classes. Each iteration reads a memory map chunk by chunk, so the data need not fit into
memory. With ``init_params="sample"`` the fit makes no copy of them.
"""

# %%
# Two hundred thousand samples on disk, in single precision.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from skem import GaussianMixture

folder = tempfile.TemporaryDirectory()
path = Path(folder.name, "samples.npy")
samples, _ = make_blobs(200_000, n_features=8, centers=12, cluster_std=2.0, random_state=0)
np.save(path, samples.astype(np.float32))
del samples

X = np.load(path, mmap_mode="r")
model = GaussianMixture(12, init_params="sample", n_init=2, tol=1e-3, n_jobs=2, random_state=0).fit(X)
print(f"{model.n_iter_} iterations over {X.nbytes / 2**20:.0f} MiB, computed in {model.dtype_used_}")

# %%
# One sample in two hundred, and the means of the components, on the first two features.

figure, (above, below) = plt.subplots(2, 1, figsize=(5.6, 6), height_ratios=[3, 2], layout="constrained")
some = X[::200]
above.scatter(some[:, 0], some[:, 1], c=model.predict(some), cmap="tab20", s=6)
above.plot(*model.means_[:, :2].T, "k+", markersize=10, markeredgewidth=2)
above.set(xlabel="feature 1", ylabel="feature 2", title="samples by component")
below.plot(range(1, model.n_iter_ + 1), model.objective_, marker=".")
below.set(xlabel="EM iteration", title="objective (nats per sample)")
plt.show()
del X
folder.cleanup()
