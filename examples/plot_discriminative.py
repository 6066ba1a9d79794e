"""
Discriminative training
=======================

EM fits a density to each class. ``DiscriminativePSKEMClassifier`` continues from these densities: a few iterations raise p(c|x) of the
training samples. One temperature, fitted on held-out samples, calibrates the product of blocks.
"""

# %%
# All models get the same principal components of the digits. Sigmoids give the probabilities of the SVM.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from skem import DiscriminativePSKEMClassifier, PSKEMClassifier
from skem.metrics import expected_calibration_error, scores

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
pca = PCA(30, random_state=0).fit(X_train)
X_train, X_test = pca.transform(X_train), pca.transform(X_test)

blocks = {
    "n_blocks": 10,
    "arrangement": "random",
    "options": {"block_size": 10},
    "max_iter": 10,
    "random_state": 0,
}
models = {
    "PSKEM": PSKEMClassifier(20, **blocks),
    "PSKEM, temperature": DiscriminativePSKEMClassifier(20, strength=np.inf, **blocks),
    "PSKEM, discriminative": DiscriminativePSKEMClassifier(20, **blocks),
    "SVM": CalibratedClassifierCV(SVC(C=5.0), ensemble=False),
}


def merits(model):
    """Accuracy (%), log-loss (nats) and calibration error (%) on the test samples."""
    log_proba = np.log(model.predict_proba(X_test).clip(1e-300))
    found = scores(y_test, log_proba)
    accuracy = 100 * np.mean(model.predict(X_test) == y_test)
    return accuracy, found["log_loss"], 100 * expected_calibration_error(y_test, log_proba)


for name, model in models.items():
    accuracy, log_loss, error = merits(model.fit(X_train, y_train))
    print(f"{name:25} accuracy {accuracy:.1f}%, log-loss {log_loss:.3f}, calibration error {error:.1f}%")

# %%
# The first ten iterations, left of the grey line, are EM; all others raise p(c|x). ``temperature_`` is fitted again after each of them.
# With so few samples the SVM is more accurate, and its probabilities are worse.

iterations = [merits(model) for model in models["PSKEM, discriminative"].fit_iterations(X_train, y_train)]
svm = merits(models["SVM"])
figure, axes = plt.subplots(2, 1, figsize=(5.6, 5), sharex=True, layout="constrained")
for ax, label, values, level in zip(
    axes, ("accuracy (%)", "log-loss (nats)"), np.transpose(iterations), svm, strict=False
):
    ax.plot(np.arange(1, len(values) + 1), values, marker=".")
    ax.axhline(level, color="C1", linestyle="--", label="SVM")
    ax.axvline(10.5, color="grey", linewidth=0.8)
    ax.set_ylabel(label)
axes[1].set(xlabel="iteration", yscale="log")
axes[0].legend()
plt.show()
