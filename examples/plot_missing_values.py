"""
Missing features
================

``predict`` takes samples with NaN and uses the density of the other features, exactly and without imputation.
"""

# %%
# Train the model on complete images of digits, and remove more and more pixels of the test images at random. The alternatives: the mean
# of each missing pixel, for the same model and for an SVM; and boosted trees, which accept NaN, trained on samples
# with as many gaps.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from skem import SKEMClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)


def with_gaps(samples, share, seed):
    return np.where(np.random.default_rng(seed).random(samples.shape) < share, np.nan, samples)


model = SKEMClassifier(30, reg_covar=0.3, random_state=0).fit(X_train, y_train)
imputer = SimpleImputer().fit(X_train)
svm = make_pipeline(imputer, SVC()).fit(X_train, y_train)

shares = [0.0, 0.2, 0.4, 0.6, 0.8]
accuracy = {
    "SKEM, marginals": [],
    "SKEM, mean imputed": [],
    "SVM, mean imputed": [],
    "boosted trees, NaN": [],
}
for share in shares:
    gaps = with_gaps(X_test, share, seed=1)
    trees = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(
        with_gaps(X_train, share, seed=2), y_train
    )
    predictions = (
        model.predict(gaps),
        model.predict(imputer.transform(gaps)),
        svm.predict(gaps),
        trees.predict(gaps),
    )
    for scores, predicted in zip(accuracy.values(), predictions, strict=True):
        scores.append(np.mean(predicted == y_test))
for name, scores in accuracy.items():
    print(f"{name:20}", *(f"{score:.3f}" for score in scores))

# %%
# Accuracy by the proportion of missing pixels, and the predictions of SKEM for one digit, whose missing pixels are orange.

figure = plt.figure(figsize=(5.6, 5.6), layout="constrained")
above, below = figure.subfigures(2, 1, height_ratios=[3, 2])
ax = above.subplots()
for name, scores in accuracy.items():
    ax.plot(shares, scores, "o-", label=name, markersize=4)
ax.set(xlabel="proportion of missing pixels", ylabel="accuracy on test samples")
ax.legend()
for ax, share in zip(below.subplots(1, 3), (0.2, 0.4, 0.6), strict=True):
    gaps = with_gaps(X_test, share, seed=1)[:1]
    probability = model.predict_proba(gaps)[0]
    ax.imshow(np.ma.masked_invalid(gaps.reshape(8, 8)), cmap="gray_r").cmap.set_bad("tab:orange")
    ax.set(title=f"predicted: {probability.argmax()}", xlabel=f"{share:.0%} missing", xticks=[], yticks=[])
plt.show()
