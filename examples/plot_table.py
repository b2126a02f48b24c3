"""
A table of numbers, texts and gaps
==================================

``KernelRegressor`` takes a DataFrame as it is. It chooses the encoding of the columns, a metric, and the kernel's
width by the error of held-out rows, and predicts with standard deviations.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

from rflib.learners import KernelRegressor

rng = np.random.default_rng(0)
n = 1200
hour = rng.uniform(0, 24, n)
weather = rng.choice(["dry", "rain", "snow"], n, p=[0.6, 0.3, 0.1])
trips = pd.DataFrame(
    {
        "hour": hour,
        "km": rng.lognormal(1, 0.6, n),
        "weather": pd.Categorical(weather),
        "holiday": rng.random(n) < 0.2,
    }
)
rush = np.exp(-((hour - 8) ** 2) / 3) + np.exp(-((hour - 17.5) ** 2) / 5)
pace = (
    2
    + 2 * np.where(trips["holiday"], 0.2, 1) * rush
    + np.select([weather == "rain", weather == "snow"], [0.4, 1.5])
)
minutes = pace * trips["km"] + rng.standard_normal(n)
trips.loc[rng.random(n) < 0.05, "hour"] = np.nan

train, test = slice(0, 900), slice(900, None)
model = KernelRegressor().fit(trips[train], minutes[train])
trees = HistGradientBoostingRegressor(random_state=0).fit(trips[train], minutes[train])
names = [
    f"{name}, R² {fitted.score(trips[test], minutes[test]):.3f}"
    for name, fitted in (("kernel", model), ("trees", trees))
]
print(names)

# %%
# ``search_`` says what was tried, and how large the error of the held-out rows was.

tried = pd.DataFrame(model.search_)
print(tried[["numbers", "metric", "width", "error"]].round(3).to_string())

# %%
# The prediction over the day, for five kilometres in dry weather, with the band of 95 % for a new trip.

day = pd.DataFrame({"hour": np.linspace(0, 24, 200), "km": 5.0, "weather": "dry", "holiday": False})
mean, deviation = model.predict(day, return_std=True)
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
trials = (
    tried["numbers"]
    + np.where(tried["metric"] != "none", ", metric", "")
    + np.where(tried["steps"], ", steps", "")
    + ", width "
    + tried["width"].astype(str)
)
left.barh(trials[::-1], tried["error"][::-1])
left.set(xlabel="held-out error, as a share of the variance")
right.fill_between(
    day["hour"], mean - 1.96 * deviation, mean + 1.96 * deviation, alpha=0.2, label="95 % of new trips"
)
right.plot(day["hour"], mean, label=names[0])
right.plot(day["hour"], trees.predict(day), linewidth=1, label=names[1])
truth = np.exp(-((day["hour"] - 8) ** 2) / 3) + np.exp(-((day["hour"] - 17.5) ** 2) / 5)
right.plot(day["hour"], 5 * (2 + 2 * truth), "--", color="0.4", label="truth")
right.set(xlabel="hour of the day", ylabel="minutes")
right.legend()
plt.show()

# %%
# Steps at thresholds were chosen beside the kernel, so that its prediction has small jumps; that of trees has only
# jumps.
