"""
A Gaussian process with a standard deviation for each prediction
================================================================

Ridge regression on random features is the posterior mean of a Gaussian process whose kernel is the
approximated one. ``KRR.predict(X, return_std=True)`` therefore also returns the standard deviation of a new
target, at a cost that does not grow with the number of training rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from rflib.kernels import Gaussian
from rflib.learners import KRR
from rflib.maps import ORF

rng = np.random.default_rng(0)
x = np.concatenate([rng.uniform(-4, -1, 60), rng.uniform(1.5, 4, 40)])
y = np.sin(2 * x) + 0.5 * x + 0.25 * rng.standard_normal(len(x))

# %%
# The ridge is chosen by the marginal likelihood, which needs no cross-validation. ``sample_y`` draws
# targets from the posterior; with ``noise=False`` it draws the function without the noise.

model = KRR(
    feature_map=ORF(Gaussian(sigma=0.8), n_components=300, random_state=0),
    criterion="marginal_likelihood",
).fit(x[:, None], y)
grid = np.linspace(-5, 5, 400)
mean, std = model.predict(grid[:, None], return_std=True)
draws = model.sample_y(grid[:, None], n_samples=4, noise=False, random_state=1)
print(f"noise: standard deviation {model.noise_variance_**0.5:.3f} (true value 0.25)")

# %%
fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.fill_between(grid, mean - 1.96 * std, mean + 1.96 * std, alpha=0.2, label="95 % interval of a new target")
ax.plot(grid, draws, color="0.55", linewidth=0.8, label=["draws of the function", *["_"] * 3])
ax.plot(grid, mean, linewidth=2, color="C0", label="prediction")
ax.plot(x, y, ".", color="C1", markersize=5, label="training rows")
ax.set(xlabel="input x", ylabel="target y", ylim=(-5, 5))
ax.legend(loc="upper left", ncols=2)
plt.show()

# %%
# Between the two groups of rows, and beyond them, the band becomes wide and the draws go apart: the data
# say nothing there. Where there are rows, the band is about as wide as the noise.
