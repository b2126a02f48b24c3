"""
What a learned metric finds
===========================

``LearnedMetric`` multiplies rows by a matrix, so that distances count the directions in which the target
varies. This example shows the directions that it finds in two columns, and in the pixels of images.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_friedman1
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from rflib.kernels import Gaussian
from rflib.learners import KRR, LearnedMetric
from rflib.maps import MercerFeatures
from rflib.plotting import MetricDisplay

# %%
# The target is a wave across the rows, with noise, so that it depends on one direction alone. The points of the
# ellipse have the same distance from the middle in the metric of the first round: along the crests of the wave,
# distances hardly count. In the transformed rows the ellipse is a circle. After all rounds, almost nothing but the
# right direction is left.

rng = np.random.default_rng(0)
X = rng.standard_normal((800, 2))
y = np.sin(3 * X @ (0.8, 0.6)) + 0.3 * rng.standard_normal(len(X))
first = LearnedMetric(n_rounds=1, random_state=0).fit(X, y)
metric = LearnedMetric(random_state=0).fit(X, y)

angles = np.linspace(0, 2 * np.pi, 400)
circle = 0.5 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
ellipse = circle @ np.linalg.inv(first.root_)
fig, panels = plt.subplots(1, 3, figsize=(10, 3.6), sharex=True, sharey=True, layout="constrained")
shown = (
    ("rows", X, ellipse),
    ("after the first round", first.transform(X), circle),
    ("after all rounds", metric.transform(X), circle),
)
for panel, (title, rows, curve) in zip(panels, shown, strict=True):
    colours = panel.scatter(*rows.T, c=y, s=10, cmap="coolwarm", vmin=-1.5, vmax=1.5)
    panel.plot(*curve.T, color="black", linewidth=2)
    panel.set(title=title, xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), aspect="equal")
fig.colorbar(colours, ax=panels, label="target")
plt.show()

# %%
# Round 0 are the rows as they are. Four rounds with a full metric follow, and four with a diagonal one, which only
# weights the two columns. The round with the least error of ridge regression on held-out rows is kept.

for each in metric.search_:
    kind = "full" if not each["diagonal"] else "diagonal" if each["round"] else "none"
    print(f"round {each['round']}, metric {kind}: {each['error']:.3f} of the variance is not explained")

# %%
# In a table, ``MetricDisplay`` shows the importances of the columns. The target of this one is a function of the
# first five of ten columns, and noise.

table, target = make_friedman1(1500, noise=1.0, random_state=0)
MetricDisplay.from_estimator(LearnedMetric(random_state=0).fit(table, target))
plt.show()

# %%
# The rows of the third data set are images of digits with 8 x 8 pixels. The importances of the columns are an
# image too, and so are the eigenvectors of the metric. Pixels at the edges, which are nearly always black, have no
# importance. The directions with the largest eigenvalues are strokes that tell digits apart. The ten targets, one
# for each digit, depend on many directions, so that no single one stands out as in the first picture.

digits = load_digits()
train, test, train_labels, test_labels = train_test_split(
    digits.data / 16, digits.target, test_size=0.5, random_state=0
)
metric = LearnedMetric(diagonal=False, random_state=0).fit(train, train_labels)
values, vectors = np.linalg.eigh(metric.metric_)
images = [("mean image", train.mean(axis=0)), ("importance", metric.feature_importances_)]
images += [(f"direction {k}: {values[-k] / values.sum():.0%}", vectors[:, -k]) for k in (1, 2, 3)]
fig, panels = plt.subplots(1, 5, figsize=(10, 2.4), layout="constrained")
for panel, (title, image) in zip(panels, images, strict=True):
    largest, signed = np.abs(image).max(), image.min() < 0
    panel.imshow(
        image.reshape(8, 8),
        cmap="coolwarm" if signed else "viridis",
        vmin=-largest if signed else 0,
        vmax=largest,
    )
    panel.set_title(title, fontsize="medium")
    panel.axis("off")
plt.show()

# %%
# With few columns, a kernel of the transformed rows spends them on what tells digits apart. With many columns,
# which represent all of the kernel, the rows as they are do no worse here, and even a little better.

labels = np.eye(10)[train_labels]
for columns in (20, 50, 200):
    features = MercerFeatures(Gaussian("median"), columns, axes="principal", random_state=0)
    for name, model in (
        ("the rows", KRR(feature_map=features)),
        ("transformed rows", make_pipeline(metric, KRR(feature_map=features))),
    ):
        predicted = model.fit(train, labels).predict(test).argmax(axis=1)
        print(f"{columns} columns of {name}: accuracy {np.mean(predicted == test_labels):.3f}")
