"""
Sampling digits
===============

A generative classifier can draw random samples of a class. PSKEM draws its feature blocks independently of each other, and the pictures
show this.
"""

# %%
# SKEM and PSKEM on the 64 pixels of each digit; for PSKEM a block is four lines, or one line, of the image.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from skem import PSKEMClassifier, SKEMClassifier

X, y = load_digits(return_X_y=True)
models = {
    "data": None,
    "SKEM": SKEMClassifier(60, reg_covar=0.05, random_state=0),
    "PSKEM,\n2 blocks": PSKEMClassifier(60, n_blocks=2, reg_covar=0.05, random_state=0),
    "PSKEM,\n8 blocks": PSKEMClassifier(60, n_blocks=8, reg_covar=0.05, random_state=0),
}

# %%
# One digit of each class, from the data and from each model. With eight blocks the lines of an image have the right class, but do not
# match each other.

figure, axes = plt.subplots(len(models), 10, figsize=(5.2, 2.6), layout="constrained")
for line, (name, model) in zip(axes, models.items(), strict=True):
    if model is None:
        drawn = X[[np.flatnonzero(y == c)[3] for c in range(10)]]
    else:
        drawn, _ = model.fit(X, y).sample(y=np.arange(10))
    for ax, image in zip(line, drawn, strict=True):
        ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[])
    line[0].set_ylabel(name, rotation=0, ha="right", va="center")
plt.show()
