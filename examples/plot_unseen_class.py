"""
Detecting an unseen class
=========================

A classifier decides for one of its classes, even if a sample belongs to none. :class:`~skem.DensityOutlierDetector` turns the density of
the same classifier into a decision: 1 for samples like the training data, -1 for outliers.
"""

# %%
# Train on nine of the ten digits, and leave each digit out in turn. Densities are higher on training samples than on new ones, so the
# threshold comes from held-out samples: a fitted model is frozen, and the detector sees samples that the model has not seen. With
# ``contamination=0.05`` some 5% of new samples of known digits are flagged.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split

from skem import DensityOutlierDetector, SKEMClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
X_fit, X_held, y_fit, y_held = train_test_split(
    X_train, y_train, test_size=0.3, stratify=y_train, random_state=0
)

flagged = np.zeros((10, 2))
for digit in range(10):
    known, held = y_fit != digit, y_held != digit
    model = SKEMClassifier(27, reg_covar=0.3, random_state=0).fit(X_fit[known], y_fit[known])
    detector = DensityOutlierDetector(FrozenEstimator(model), contamination=0.05).fit(X_held[held])
    is_outlier = detector.predict(X_test) == -1
    flagged[digit] = is_outlier[y_test != digit].mean(), is_outlier[y_test == digit].mean()
print("flagged, mean of ten digits")
print(f"{flagged[:, 0].mean():.0%} of known digits, {flagged[:, 1].mean():.0%} of the unseen digit")

# %%
# The detector flags more than nine in ten unseen fours and sevens. Ones and eights resemble other digits.

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
places = np.arange(10)
ax.bar(places - 0.2, 100 * flagged[:, 1], 0.4, label="unseen digit")
ax.bar(places + 0.2, 100 * flagged[:, 0], 0.4, label="known digits")
ax.axhline(5, color="gray", linestyle="--", linewidth=1, label="contamination")
ax.set(xticks=places, xlabel="digit left out of training", ylabel="flagged, %", ylim=(0, 100))
ax.legend()
plt.show()
