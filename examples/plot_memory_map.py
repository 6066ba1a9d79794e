"""
A mixture from a memory map
===========================

``GaussianMixture`` is the same engine without classes. Each iteration reads a memory map chunk by chunk, so the data need not fit into
memory. Initialised at samples, the fit copies none of them.
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
path = Path(folder.name, "rows.npy")
rows, _ = make_blobs(200_000, n_features=8, centers=12, cluster_std=2.0, random_state=0)
np.save(path, rows.astype(np.float32))
del rows

X = np.load(path, mmap_mode="r")
model = GaussianMixture(12, init="sample", n_init=2, tol=1e-3, n_jobs=2, random_state=0).fit(X)
print(f"{model.n_iter_} iterations over {X.nbytes / 2**20:.0f} MiB, computed in {model.dtype_used_}")

# %%
# One sample in two hundred, and the means of the components, on the first two features.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
some = X[::200]
left.scatter(some[:, 0], some[:, 1], c=model.predict(some), cmap="tab20", s=6)
left.plot(*model.means_[:, :2].T, "k+", markersize=10, markeredgewidth=2)
left.set(xlabel="feature 1", ylabel="feature 2", title="samples by component")
right.plot(range(1, model.n_iter_ + 1), model.objective_, marker=".")
right.set(xlabel="EM iteration", ylabel="objective (nats per sample)", title="objective by iteration")
plt.show()
del X
folder.cleanup()
