"""
Any function of the distance as a kernel
========================================

``MVORF`` needs no spectral density. It takes any function of the distance, definite or not, and represents it on
the training rows by a combination of products of functions of one coordinate.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from rflib.maps import MVORF
from rflib.measures import RangeWarning


def ripple(z):
    """Return a damped wave: near rows are alike, rows at a certain distance are opposite."""
    return np.exp(-(z**2) / 4) * np.cos(2 * z)


rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(500, 3))

# %%
# The error falls as the number of columns grows. ``predicted_error_`` is measured on training rows that were held
# out. Columns with a negative sign represent the part of the function that is not positive definite.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
pairs = np.triu_indices(60, 1)
distance = np.linalg.norm(X[pairs[0]] - X[pairs[1]], axis=1)
z = np.linspace(0, distance.max(), 300)
for ax, D in zip(axes, (64, 512), strict=True):
    features = MVORF(ripple, n_components=D, random_state=0).fit(X)
    ax.plot(distance, features.kernel_matrix(X[:60])[pairs], ".", markersize=3, color="C1", label="estimate")
    ax.plot(z, ripple(z), color="black", label="the function")
    ax.set(
        xlabel="distance of two rows", title=f"{D} columns: predicted error {features.predicted_error_:.3g}"
    )
    print(f"D = {D}: {(features.signature_ < 0).sum()} negative signs")
axes[0].set(ylabel="value of the kernel")
axes[0].legend(markerscale=4)
plt.show()

# %%
# The function is represented near the training rows only. ``transform`` warns about rows that are unlike them,
# because the features fade there.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", RangeWarning)
    features.transform(X[:5] + 10)
print(caught[0].message)
