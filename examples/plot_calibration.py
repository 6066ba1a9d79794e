"""
Overconfident probabilities and their calibration
=================================================

PSKEM multiplies the densities of its blocks as if these were independent. If they are not, the same evidence counts more than once,
and probabilities crowd at 0 and 1. Calibration corrects the probabilities, and hardly changes decisions.
"""

# %%
# Twenty features, all of them combinations of five, in ten blocks of two.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from skem import PSKEMClassifier
from skem.metrics import expected_calibration_error, scores

X, y = make_classification(
    6000, n_features=20, n_informative=5, n_redundant=15, class_sep=0.7, flip_y=0.1, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = PSKEMClassifier(10, n_blocks=10, max_iter=15, random_state=0)
models = {"as it is": model, "calibrated": CalibratedClassifierCV(model, method="isotonic", cv=3)}

# %%
# On the diagonal, the predicted probability equals the proportion of samples of the class.

figure, ax = plt.subplots(figsize=(5.6, 4.2), layout="constrained")
for name, estimator in models.items():
    estimator.fit(X_train, y_train)
    if name == "calibrated":
        log_proba = np.log(estimator.predict_proba(X_test).clip(1e-300))
    else:
        log_proba = estimator.predict_log_proba(X_test)
    merit, ece = scores(y_test, log_proba), expected_calibration_error(y_test, log_proba)
    print(
        f"{name}: accuracy {merit['accuracy']:.3f}, log-loss {merit['log_loss']:.2f}, calibration error {ece:.3f}"
    )
    CalibrationDisplay.from_predictions(y_test, np.exp(log_proba[:, 1]), n_bins=10, name=name, ax=ax)
ax.set(xlabel="predicted probability", ylabel="proportion of samples")
plt.show()
