"""
Let AutoMap choose the map
==========================

``AutoMap`` fits all maps that can take a kernel on a sample of the rows, compares them on other rows, and
keeps the best. ``scores_`` says how the candidates did.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from rflib.kernels import Matern
from rflib.maps import AutoMap

X = StandardScaler().fit_transform(load_breast_cancer().data)
kernel = Matern(nu=1.5, length_scale="median")

free = AutoMap(kernel, n_components=64, random_state=0).fit(X)
oblivious = AutoMap(kernel, n_components=64, oblivious=True, random_state=0).fit(X)
print("best:", free.best_)
print("best of those that store no training rows:", oblivious.best_)

# %%
# With ``tolerance`` AutoMap also looks for the number of columns: the least one whose error is within the
# tolerance.

enough = AutoMap(kernel, n_components=256, tolerance=0.08, oblivious=True, random_state=0).fit(X)
print(f"{enough.n_components_} columns of {type(enough.best_).__name__} have an error of at most 8 %")

# %%
scores = [score for score in free.scores_ if not score["failure"]]
names = [score["name"].split("(")[0] for score in scores]
fig, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
bars = ax.barh(names, [score["error"] for score in scores], color="C0")
ax.bar_label(bars, [f"{score['error']:.3f}, {1000 * score['seconds']:.0f} ms" for score in scores], padding=4)
ax.invert_yaxis()
ax.set(xlabel="relative error of the kernel matrix on held-out rows, 64 columns")
ax.margins(x=0.25)
plt.show()

# %%
# The number beside each bar is the time of one fit on the sample and of the features of the held-out rows.
# The criterion may also be the score of a learner (``criterion="score"``): then the order is often another
# one.
