"""
Signed features of an indefinite kernel
=======================================

The difference of two Gaussians is a kernel whose matrices have negative eigenvalues. Its features have
signs, and the estimate of the kernel matrix is ``Z @ diag(signature_) @ Z.T``. A linear learner does not
see the signs. This example shows the difference between the kernel with signs and the kernel without them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from rflib.kernels import DeltaGaussian
from rflib.learners import ExactKRRClassifier, KRRClassifier
from rflib.maps import GORF
from rflib.plotting import FeatureSpectrumDisplay

kernel = DeltaGaussian(coefficients=(1, -0.2), sigmas=(0.4, 1.5))
X, y = load_digits(return_X_y=True)
X = normalize(X)
features = GORF(kernel, n_components=512, random_state=0).fit(X[:800])
Z = features.transform(X[:800])
print(f"{(features.signature_ < 0).sum()} of {len(features.signature_)} columns have the sign -1")

# %%
# The left picture has one point for each pair of rows: with the signs the estimate follows the kernel,
# without them it follows the *associated kernel*, the sum of both Gaussians. The right picture shows the
# eigenvalues of the exact matrix and of the estimate, the negative ones by their absolute values.

rows = np.random.default_rng(0).choice(800, 200, replace=False)
pairs = np.triu_indices(200, 1)
distance = np.linalg.norm(X[rows][pairs[0]] - X[rows][pairs[1]], axis=1)
signed = features.kernel_matrix(X[rows])[pairs]
unsigned = (Z[rows] @ Z[rows].T)[pairs]
z = np.linspace(0, distance.max(), 200)
positive, negative = np.exp(-((z / 0.4) ** 2) / 2), 0.2 * np.exp(-((z / 1.5) ** 2) / 2)

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot(
    distance[::10], unsigned[::10], ".", markersize=3, alpha=0.5, color="C1", label="estimate without signs"
)
left.plot(distance[::10], signed[::10], ".", markersize=3, alpha=0.5, color="C0", label="estimate with signs")
left.plot(z, positive + negative, "--", color="black", label="associated kernel")
left.plot(z, kernel.at_distance(z), color="black", label="kernel")
left.set(xlabel="distance of two rows", ylabel="value of the kernel")
left.legend(markerscale=4)
FeatureSpectrumDisplay.from_estimator(features, X[:800], ax=right)
plt.show()

# %%
# Which one should a learner use? ``signed="associated"``, the default, uses all columns as they are and
# keeps the problem convex. ``signed="krein"`` solves the problem of the indefinite kernel itself, like the
# exact learner.

train, test = slice(0, 800), slice(800, None)
for signed in ("associated", "krein", "positive"):
    model = KRRClassifier(feature_map=features, signed=signed).fit(X[train], y[train])
    print(f"signed={signed!r:13} accuracy {model.score(X[test], y[test]):.3f}")
exact_model = ExactKRRClassifier(kernel).fit(X[train], y[train])
print(f"exact kernel         accuracy {exact_model.score(X[test], y[test]):.3f}")

# %%
# The three choices are about equally accurate here. All are behind the exact kernel, since 512 columns are few for
# a kernel this narrow: the scatter in the left picture is their error.
