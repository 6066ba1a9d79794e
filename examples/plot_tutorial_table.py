"""
Tutorial: from a file to decisions
==================================

For a table with classes: load it, compare classifiers, use calibrated probabilities, and save the model. On the way: missing values, the
number of components, and samples unlike any class. All steps together take a minute.
"""

# %%
# Load
# ----
# The file is that of the wines of scikit-learn, with a tenth of the cells empty. Features are numbers, labels may be text.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import skops.io
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_validate, train_test_split, validation_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skem import (
    DensityOutlierDetector,
    DiscriminativePSKEMClassifierCV,
    GaussianMixture,
    SKEMClassifier,
)

wines = load_wine(as_frame=True)
table = wines.data.mask(np.random.default_rng(0).random(wines.data.shape) < 0.1)
table["cultivar"] = wines.target.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"})
folder = Path(tempfile.mkdtemp())
table.to_csv(folder / "wines.csv", index=False)

table = pd.read_csv(folder / "wines.csv")
X, y = table.drop(columns="cultivar"), table["cultivar"]
print(f"{len(X)} samples, {X.shape[1]} features, {X.isna().to_numpy().mean():.0%} missing")

# %%
# Compare
# -------
# The recommended classifier selects its parameters on the training samples of each fold, and takes missing values as they are. The SVM
# gets the means of the features. Log-loss measures probabilities: lower is better.

svm = make_pipeline(SimpleImputer(), StandardScaler(), CalibratedClassifierCV(SVC(), ensemble=False))
classifiers = {
    "DiscriminativePSKEMClassifierCV": DiscriminativePSKEMClassifierCV(random_state=0),
    "SVM": svm,
    "random forest": RandomForestClassifier(random_state=0),
}
for name, classifier in classifiers.items():
    scores = cross_validate(classifier, X, y, cv=3, scoring=("accuracy", "neg_log_loss"))
    accuracy, log_loss = scores["test_accuracy"].mean(), -scores["test_neg_log_loss"].mean()
    print(f"{name:32} accuracy {accuracy:.3f}, log-loss {log_loss:.3f}")

# %%
# Number of components
# --------------------
# The recommended classifier doubles the number of components while the log-loss of held-out samples falls. Other classifiers have one
# parameter for it, ``n_components``: double it by hand.

numbers = [3, 6, 12, 24]
skem = SKEMClassifier(random_state=0)
scores = validation_curve(
    skem, X, y, param_name="n_components", param_range=numbers, cv=3, scoring="neg_log_loss"
)
figure, ax = plt.subplots(figsize=(5.6, 3), layout="constrained")
for label, values in zip(("training", "held out"), scores, strict=True):
    ax.plot(numbers, -values.mean(axis=1), "o-", label=label)
ax.set_xscale("log", base=2)
ax.set_xticks(numbers, numbers)
ax.set(xlabel="number of components", ylabel="log-loss (nats)")
ax.legend()
plt.show()

# %%
# Decide
# ------
# Probabilities are calibrated, so a decision may depend on costs. Here a wine is sent to the laboratory if no class has a probability of
# 90%. The accuracy of the others rises.

X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = DiscriminativePSKEMClassifierCV(random_state=0).fit(X_train, y_train)
proba = model.predict_proba(X_test)
sure = proba.max(axis=1) >= 0.9
right = model.predict(X_test) == y_test
print(f"{sure.mean():.0%} decided, {right[sure].mean():.0%} of them right")
print(f"of the others {right[~sure].mean():.0%} would be right")

# %%
# Outliers
# --------
# A density detects samples unlike the training data, about which a classifier may be confident. Here the units of some wines are wrong
# by a factor of two. The detector takes complete samples.

complete = X_train.dropna()
mixture = GaussianMixture(3, covariance_type="diag", standardize=True, random_state=0)
detector = DensityOutlierDetector(mixture, contamination=0.05).fit(complete)
new = X_test.dropna()
flagged = [(detector.predict(samples) == -1).mean() for samples in (new, 2 * new)]
print("outliers: {:.0%} of new wines, {:.0%} of wrong ones".format(*flagged))

figure, ax = plt.subplots(figsize=(5.6, 3), layout="constrained")
for label, samples in {"training": complete, "new": new, "wrong units": 2 * new}.items():
    ax.plot(np.sort(detector.score_samples(samples)), np.linspace(0, 1, len(samples)), label=label)
ax.axvline(detector.offset_, color="black", linestyle="--", linewidth=1, label="threshold")
ax.set_xscale("symlog", linthresh=10)
ax.set(xlabel="log p(x) in nats", ylabel="proportion of samples below")
ax.legend()
plt.show()

# %%
# Save and load
# -------------
# skops writes a model to a file without pickle. Loading creates only objects of known types, and of those that are given as trusted: check
# the list if the file is not your own.

skops.io.dump(model, folder / "wines.skops")
untrusted = skops.io.get_untrusted_types(file=folder / "wines.skops")
loaded = skops.io.load(folder / "wines.skops", trusted=untrusted)
print((loaded.predict(X_test) == model.predict(X_test)).all())
