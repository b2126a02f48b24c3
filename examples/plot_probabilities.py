"""
Probabilities of the classes
============================

``KRRClassifier`` and ``LinearSVM`` predict classes and give values, not probabilities. scikit-learn's
calibration turns the values of held-out rows into probabilities.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.datasets import make_moons

from rflib.kernels import Gaussian
from rflib.learners import KRRClassifier
from rflib.maps import ORF

X, y = make_moons(3000, noise=0.35, random_state=0)
train, test = slice(0, 1000), slice(1000, None)
features = ORF(Gaussian(sigma=0.5), n_components=200, random_state=0)
model = CalibratedClassifierCV(KRRClassifier(feature_map=features, alphas=1e-3), ensemble=False)
model.fit(X[train], y[train])
probability = model.predict_proba(X[test])[:, 1]
print(f"accuracy {model.score(X[test], y[test]):.3f}")

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
first, second = np.meshgrid(np.linspace(-2.2, 3.2, 120), np.linspace(-1.8, 2.2, 120))
surface = model.predict_proba(np.column_stack([first.ravel(), second.ravel()]))[:, 1].reshape(first.shape)
filled = left.contourf(first, second, surface, levels=np.linspace(0, 1, 11), cmap="cividis")
fig.colorbar(filled, ax=left, label="probability of class 1")
for label, marker in enumerate("ox"):
    rows = X[train][y[train] == label][:150]
    left.plot(
        *rows.T, marker, color=("white", "black")[label], markersize=4, label=f"class {label}", mec="0.4"
    )
left.set(xlabel="first input", ylabel="second input", xlim=(-2.2, 3.2), ylim=(-1.8, 2.2))
left.grid(False)
left.legend(loc="lower left", facecolor="0.75")
share, predicted = calibration_curve(y[test], probability, n_bins=8, strategy="quantile")
right.plot([0, 1], [0, 1], "--", color="0.5", label="perfect calibration")
right.plot(predicted, share, "o-", label="calibrated ridge classifier")
right.set(
    xlabel="predicted probability of class 1", ylabel="share of class 1 among these rows", aspect="equal"
)
right.legend(loc="upper left")
plt.show()

# %%
# On the right, 2,000 rows that were not used for training are put into eight groups by their predicted
# probability. In each group the share of class 1 is roughly what was predicted.
