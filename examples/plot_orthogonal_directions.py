"""
Why orthogonal directions help
==============================

The estimate of a kernel is a mean over random frequencies. If the directions of the frequencies are
orthogonal to each other, the errors of single frequencies partly cancel. This example compares the variance
of the estimate with independent directions (``RFF``) and with orthogonal ones (``ORF``).
"""

import matplotlib.pyplot as plt
import numpy as np

from rflib.kernels import Gaussian
from rflib.maps import ORF, RFF

d, n_seeds = 16, 800
kernel = Gaussian(sigma=1.0)
distances = np.linspace(0, 5, 26)
X = np.zeros((len(distances), d))
X[:, 0] = distances  # rows at the given distances from the first one

# %%
# Each map is drawn 800 times with 64 columns: 32 frequencies, which are two orthogonal bases in 16
# dimensions.

maps = {
    "independent (RFF)": lambda seed: RFF(kernel, 64, random_state=seed),
    "orthogonal (ORF)": lambda seed: ORF(kernel, 64, random_state=seed),
}
variances = {
    name: np.var([make(seed).fit(X).kernel_matrix(X[:1], X)[0] for seed in range(n_seeds)], axis=0)
    for name, make in maps.items()
}

# %%
# The line is the formula for independent directions: with F frequencies the variance at the distance z is
# ((1 + k(2z))/2 - k(z)²) / F.

k, k2 = kernel.at_distance(distances), kernel.at_distance(2 * distances)
formula = ((1 + k2) / 2 - k**2) / 32

fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
ax.plot(distances, 1000 * formula, color="C0", linewidth=1, label="independent, by the formula")
for (name, variance), marker in zip(variances.items(), "ov", strict=True):
    ax.plot(distances, 1000 * variance, marker, markersize=5, label=f"{name}, 800 draws")
ax.set(
    xlabel="distance of the two rows (units of the width)", ylabel="variance of the estimate (thousandths)"
)
ax.legend()
plt.show()

# %%
# Near pairs of rows gain most: there the estimate depends on the sum of the squared projections, which is
# the same for every orthogonal basis. Far pairs gain little, because the kernel is near zero and the waves
# are out of phase anyway.
