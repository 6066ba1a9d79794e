"""
One parameter at a time
=======================

The decision regions of SKEM on 300 samples of a pinwheel, for several values of one parameter. The title of a panel is the value and the
accuracy on 4,000 test samples. :doc:`/use/parameters` has the rules.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Ellipse
from sklearn.inspection import DecisionBoundaryDisplay

from skem import SKEMClassifier

COLOURS = ["#0072b2", "#e69f00", "#009e73"]  # Okabe and Ito: distinct for the colour-blind


def pinwheel(n, seed, arms=7, classes=3):
    rng = np.random.default_rng(seed)
    arm = rng.integers(0, arms, n)
    along, across = rng.normal([1, 0], [0.3, 0.06], size=(n, 2)).T
    angle = 2 * np.pi * arm / arms + 0.25 * np.exp(along)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.column_stack([along * cos - across * sin, along * sin + across * cos]), arm % classes


X, y = pinwheel(300, seed=0)
X_test, y_test = pinwheel(4000, seed=1)


def compare(configurations, unit=(1, 1)):
    """Draw a panel per configuration: regions, training samples, and components at two standard deviations."""
    n = len(configurations)
    _, axes = plt.subplots(1, n, figsize=(8, 1.2 + 6.6 / n), layout="constrained")
    for ax, (title, parameters) in zip(axes, configurations.items(), strict=True):
        defaults = {"n_components": 12, "reg_covar": 0.01, "max_iter": 100, "random_state": 0}
        model = SKEMClassifier(**defaults | parameters).fit(X * unit, y)
        DecisionBoundaryDisplay.from_estimator(
            model,
            X * unit,
            eps=0.4 * (X * unit).std(axis=0).min(),
            ax=ax,
            response_method="predict",
            multiclass_colors=COLOURS,
            alpha=0.25,
        )
        limits = ax.axis()
        ax.scatter(*(X * unit).T, c=y, s=4, cmap=ListedColormap(COLOURS))
        tied = model.covariance_type == "tied"
        covariances = [model.covariances_] * len(model.means_) if tied else model.covariances_
        for mean, covariance in zip(model.means_, covariances, strict=True):
            variances, vectors = np.linalg.eigh(np.diag(covariance) if covariance.ndim == 1 else covariance)
            height, width = 4 * np.sqrt(variances)
            angle = np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
            ax.add_patch(Ellipse(mean, width, height, angle=angle, fill=False))
        ax.set_title(f"{title}\n{100 * model.score(X_test * unit, y_test):.1f}%", fontsize=13)
        ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
        ax.axis(limits)
    plt.show()


# %%
# ``n_components``: too few components cannot follow the arms.

compare({f"n_components={k}": {"n_components": k} for k in (3, 12, 60)})

# %%
# ``covariance_type``: twelve components of each type.

compare({f'"{name}"': {"covariance_type": name} for name in ("full", "tied", "diag", "spherical")})

# %%
# ``reg_covar``, with 30 components. If it is too small, narrow components fit single samples. If it is too large, components become
# circles.

compare({f"reg_covar={r:g}": {"reg_covar": r, "n_components": 30} for r in (1e-6, 0.01, 1)})

# %%
# ``init_params``: k-means of all samples may put the means of two classes into one component. The best of five initialisations corrects this.

compare(
    {
        'init_params="class"': {},
        'init_params="kmeans"': {"init_params": "kmeans"},
        '"kmeans", n_init=5': {"init_params": "kmeans", "n_init": 5},
    }
)

# %%
# ``standardize``, with the vertical feature in units a hundred times as large. ``reg_covar`` in input units then hides this feature.

compare({f"standardize={s}": {"standardize": s} for s in (True, False)}, unit=(1, 0.01))
