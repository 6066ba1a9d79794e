"""
Sharing, from 0 to 1
====================

``sharing`` is the degree to which a class may use the components that are reserved for others, during training: 0 is a separate mixture
for each class, 1 the shared-kernel model.
"""

# %%
# Ten principal components of handwritten digits, and eight random draws of 300 training samples.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

from skem import PRBFClassifier
from skem.metrics import shared_proportion

X, y = load_digits(return_X_y=True)
X = PCA(10, random_state=0).fit_transform(X)
lambdas = (0.0, 0.25, 0.5, 0.75, 1.0)
accuracy, shared = np.empty((8, 5)), np.empty((8, 5))
for run in range(8):
    X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=300, stratify=y, random_state=run)
    for i, sharing in enumerate(lambdas):
        model = PRBFClassifier(20, sharing=sharing, covariance_type="spherical", random_state=run)
        accuracy[run, i] = 100 * model.fit(X_train, y_train).score(X_test, y_test)
        shared[run, i] = shared_proportion(model.weights_)

# %%
# Below, the proportion of mixture weights that belong to components of several classes. On these data
# sharing reduces the accuracy, as on most data. Bars are one standard error over the draws.

figure, (above, below) = plt.subplots(2, 1, figsize=(5.6, 5), sharex=True, layout="constrained")
above.errorbar(lambdas, accuracy.mean(axis=0), accuracy.std(axis=0, ddof=1) / np.sqrt(8), fmt="o-", capsize=3)
above.set_ylabel("test accuracy (%)")
below.plot(lambdas, shared.mean(axis=0), "o-")
below.set(xlabel="sharing", ylabel="shared proportion", ylim=(-0.02, 1))
plt.show()
