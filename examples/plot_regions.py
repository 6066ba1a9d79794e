"""
Decision regions of SKEM and MDA
================================

In SKEM every component has its own covariance; in MDA all components share one. A shared covariance does not suit data whose
direction changes from cluster to cluster.
"""

# %%
# Seven arms of a pinwheel, in three classes: 600 training and 4,000 test samples.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Ellipse
from sklearn.inspection import DecisionBoundaryDisplay

from skem import MDAClassifier, SKEMClassifier


def pinwheel(n, seed, arms=7, classes=3):
    rng = np.random.default_rng(seed)
    arm = rng.integers(0, arms, n)
    along, across = rng.normal([1, 0], [0.3, 0.06], size=(n, 2)).T
    angle = 2 * np.pi * arm / arms + 0.25 * np.exp(along)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.column_stack([along * cos - across * sin, along * sin + across * cos]), arm % classes


X, y = pinwheel(600, seed=0)
X_test, y_test = pinwheel(4000, seed=1)

# %%
# Both models have nine components, three initialised at samples of each class. An ellipse is a component at two standard deviations. The
# title has the accuracy on test samples.

COLOURS = ["#0072b2", "#e69f00", "#009e73"]  # Okabe and Ito: distinct for the colour-blind


def draw(ax, model):
    DecisionBoundaryDisplay.from_estimator(
        model, X, ax=ax, response_method="predict", multiclass_colors=COLOURS, alpha=0.25
    )
    ax.scatter(*X.T, c=y, s=6, cmap=ListedColormap(COLOURS))
    covariances = np.broadcast_to(model.covariances_, (len(model.means_), 2, 2))
    for mean, covariance in zip(model.means_, covariances, strict=True):
        variances, axes = np.linalg.eigh(covariance)
        height, width = 4 * np.sqrt(variances)
        angle = np.degrees(np.arctan2(axes[1, 1], axes[0, 1]))
        ax.add_patch(Ellipse(mean, width, height, angle=angle, fill=False, linewidth=1.5))
    name = type(model).__name__.removesuffix("Classifier")
    ax.set_title(f"{name}: {100 * model.score(X_test, y_test):.1f}%")
    ax.set(xticks=[], yticks=[], aspect="equal")


figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.4), layout="constrained", sharex=True, sharey=True)
for ax, Model in zip(axes, (SKEMClassifier, MDAClassifier), strict=True):
    draw(ax, Model(9, reg_covar=0.01, max_iter=100, random_state=0).fit(X, y))
plt.show()
