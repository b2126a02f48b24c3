"""A long pass that is killed: the same call goes on from its checkpoint and ends as if nothing had happened."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rflib.kernels import Gaussian
from rflib.learners import KRR, ArrayRows, KRRClassifier
from rflib.maps import RFF, Nystroem

KILLS = 10
N, SIZE = 1200, 20

# Each fit is made by children that kill themselves after some blocks, before or while the checkpoint is replaced.
# A case is a learner, its rows, and the passes that come before the one with a checkpoint.
PROGRAM = """
import json, os, signal, sys
import numpy as np
from rflib.kernels import Gaussian
from rflib.learners import *
from rflib.learners.row_sources import as_row_source
from rflib.maps import RFF, Nystroem

folder, kills, n, size = sys.argv[1], *map(int, sys.argv[2:])
rng = np.random.default_rng(0)
X = rng.standard_normal((n, 3)).astype(np.float32)
value = np.sin(2 * X[:, 0]) + X[:, 1]
label = np.array(["a", "b", "c"])[np.digitize(value, [-.5, .5])]

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def mortal(source, left):
    "Let the source kill the process at a block; return the numbers of those that were read."
    blocks, read = source.blocks, []
    def until_death(start=0, **how):
        for block in blocks(start, **how):
            read.append(1)
            if len(read) == left:
                die()
            yield block
    source.blocks = until_death
    return read

def parquet(y):
    import pyarrow as pa, pyarrow.parquet as pq
    path = f"{folder}/{y.dtype.kind}.parquet"
    table = pa.table({"0": X[:, 0], "1": X[:, 1], "2": X[:, 2], "y": y})
    if not os.path.exists(path):
        pq.write_table(table, path, row_group_size=77)
    return ParquetRows(path, ["0", "1", "2"], target="y", block_size=size)

def arrays(y):
    return ArrayRows(X, y, block_size=size)

FOURIER = RFF(Gaussian(1.0), 20, random_state=0)
LANDMARKS = Nystroem(Gaussian("scale"), 20, random_state=0)
CASES = {
    "ridge of Parquet": lambda: (KRR(feature_map=FOURIER, alphas=(1e-3, 1e-1)), parquet(value), 0),
    "labels of arrays": lambda: (
        KRRClassifier(feature_map=LANDMARKS, criterion="error_rate", gram_dtype="float64"), arrays(label), 1),
    "Newton's method": lambda: (
        LinearSVM(solver="newton", feature_map=FOURIER, tol=1e-6), list(map(tuple, arrays(label))), 1),
    "steps": lambda: (DoublyStochasticRegressor(FOURIER, n_blocks=30, batch_size=30), arrays(value), 0),
}

def fit(name, left=None, in_replace=False):
    model, source, before = CASES[name]()
    source = as_row_source(model, source)
    path = f"{folder}/{name.replace(' ', '_')}.npz"
    if left and in_replace:
        replace, calls = os.replace, iter(range(1, left + 1))
        os.replace = lambda *names: die() if next(calls) == left else replace(*names)
    read = mortal(source, left + 1 + before * n // size if left and not in_replace else -1)
    model.fit_blocks(source, checkpoint=path, checkpoint_seconds=0)
    return model, len(read)

def weights(model):
    return np.asarray(model.coef_ if hasattr(model, "coef_") else model.coefs_, float).tolist()

def dies(*how):
    pid = os.fork()
    if not pid:
        try:
            fit(*how)
        finally:
            os._exit(1)
    status = os.waitpid(pid, 0)[1]
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL

said = {}
for name in CASES:
    deaths = [dies(name, int(rng.integers(1, 6)), bool(rng.integers(2))) for _ in range(kills)]
    model, read = fit(name)
    said[name] = {"deaths": sum(deaths), "read": read, "coef": weights(model),
                  "left": [file for file in os.listdir(folder) if ".npz" in file]}
    model, source, _ = CASES[name]()
    source = as_row_source(model, source)
    read = mortal(source, -1)
    said[name]["undisturbed"] = weights(model.fit_blocks(source))
    said[name]["of"] = len(read)
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    pytest.importorskip("pyarrow")
    if not hasattr(os, "fork"):
        pytest.skip("needs os.fork")
    words = [str(tmp_path_factory.mktemp("killed")), *map(str, (KILLS, N, SIZE))]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, env=environment
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.reliability
@pytest.mark.parametrize("name", ["ridge of Parquet", "labels of arrays", "Newton's method", "steps"])
def test_killed_ten_times_and_resumed_is_the_undisturbed_fit(said, name):
    found = said[name]
    assert found["deaths"] == KILLS
    np.testing.assert_allclose(found["coef"], found["undisturbed"], rtol=1e-12)
    assert not found["left"]
    assert found["read"] < found["of"] or name == "steps"  # whose checkpoint holds steps, not rows


@pytest.fixture
def stopped(tmp_path):
    """A pass over 100 rows that ended in block 6 of 10, with its checkpoint."""
    X = np.random.default_rng(0).standard_normal((100, 3))
    y = X[:, 0]
    bad = X.copy()
    bad[65] = np.nan
    path = tmp_path / "pass.npz"
    learner = KRR(feature_map=RFF(Gaussian(), 10, random_state=0))
    with pytest.raises(ValueError, match="NaN"):
        learner.fit_blocks(ArrayRows(bad, y, block_size=10), checkpoint=path, checkpoint_seconds=0)
    assert vars(learner) == vars(learner).__class__(learner.get_params(deep=False))
    return X, y, path


def resumed(learner, rows, path):
    """Fit, and return the numbers of rows that were read."""
    read = []

    class Watched(ArrayRows):
        def _rows(self, rows, features):
            if isinstance(rows, slice):
                read.append(rows.start)
            return super()._rows(rows, features)

    learner.fit_blocks(Watched(*rows, block_size=10), checkpoint=path)
    return read


def test_a_pass_goes_on_behind_the_rows_that_are_counted(stopped):
    """After the first block, which fits the map, come those that were not counted."""
    X, y, path = stopped
    learner = KRR(feature_map=RFF(Gaussian(), 10, random_state=0))
    assert resumed(learner, (X, y), path) == [0, 60, 70, 80, 90]
    whole = KRR(feature_map=RFF(Gaussian(), 10, random_state=0)).fit_blocks(ArrayRows(X, y, block_size=10))
    np.testing.assert_array_equal(learner.coef_, whole.coef_)
    assert learner.alpha_ == whole.alpha_
    assert not path.exists()


def test_what_the_moments_do_not_depend_on_may_change(stopped):
    X, y, path = stopped
    learner = KRR(feature_map=RFF(Gaussian(), 10, random_state=0), alphas=(1e-6, 1e-5), ridge="lambda")
    assert resumed(learner, (X, y), path) == [0, 60, 70, 80, 90]


@pytest.mark.parametrize(
    ("parameters", "differs"),
    [
        ({"cv": 3}, "folds"),
        ({"random_state": 1}, "random_state"),
        ({"gram_dtype": "float32"}, "gram_dtype"),
        ({"feature_map": RFF(Gaussian(), 10, random_state=1)}, "features"),
        ({"feature_map": RFF(Gaussian(2.0), 10, random_state=0)}, "features"),
        ({"feature_map": RFF(Gaussian(), 12, random_state=0)}, "features"),
        ({}, "rows"),
    ],
    ids=str,
)
def test_a_checkpoint_of_another_call_is_refused(stopped, parameters, differs):
    X, y, path = stopped
    learner = KRR(feature_map=RFF(Gaussian(), 10, random_state=0)).set_params(**parameters)
    content = path.read_bytes()
    X = X if parameters else X + 0.0 * (np.arange(100) < 60)[:, None] + (np.arange(100) == 59)[:, None]
    with pytest.raises(
        ValueError, match=rf"^KRR: the checkpoint \S*pass.npz belongs to another .* {differs}\. Re"
    ):
        learner.fit_blocks(ArrayRows(X, y, block_size=10), checkpoint=path)
    assert path.read_bytes() == content
    assert not hasattr(learner, "feature_map_")


def test_fewer_rows_another_learner_or_damage_are_refused(stopped):
    X, y, path = stopped
    with pytest.raises(ValueError, match="differs in rows"):
        KRR(feature_map=RFF(Gaussian(), 10, random_state=0)).fit_blocks(
            ArrayRows(X[:50], y[:50], block_size=10), checkpoint=path
        )
    other = KRRClassifier(feature_map=RFF(Gaussian(), 10, random_state=0))
    with pytest.raises(ValueError, match="differs in learner"):
        other.fit_blocks(ArrayRows(X, y > 0, block_size=10), checkpoint=path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"pass.npz is damaged .*delete it"):
        KRR(feature_map=RFF(Gaussian(), 10, random_state=0)).fit_blocks(
            ArrayRows(X, y, block_size=10), checkpoint=path
        )


def test_an_iterator_that_begins_anew_goes_on_too(stopped):
    X, y, path = stopped
    path.unlink()
    blocks = [(X[rows], y[rows]) for rows in np.split(np.arange(100), 10)]

    def interrupted():
        yield from blocks[:7]
        raise KeyboardInterrupt

    learner = KRR(feature_map=RFF(Gaussian(), 10, random_state=0))
    with pytest.raises(KeyboardInterrupt):
        learner.fit_blocks(interrupted(), checkpoint=path, checkpoint_seconds=0)
    other = [(X[rows] + 1, y[rows]) for rows in np.split(np.arange(100), 10)]
    with pytest.raises(ValueError, match="differs in rows, features"):
        learner.fit_blocks(iter(other), checkpoint=path)
    learner.fit_blocks(iter(blocks), checkpoint=path)
    whole = KRR(feature_map=RFF(Gaussian(), 10, random_state=0)).fit_blocks(blocks)
    np.testing.assert_array_equal(learner.coef_, whole.coef_)


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        (KRR(random_state=None), "random_state"),
        (KRR(feature_map=RFF()), "feature_map__random_state"),
        (KRR(feature_map=Nystroem(random_state=np.random.RandomState(0))), "feature_map__random_state"),
    ],
    ids=["the learner's", "the map's", "a generator"],
)
def test_a_call_that_cannot_be_repeated_has_no_checkpoint(learner, name, tmp_path):
    with pytest.raises(ValueError, match=rf"^KRR: with a checkpoint {name} must be an integer"):
        learner.fit_blocks([], checkpoint=tmp_path / "pass.npz")


def test_no_checkpoint_is_written_before_its_time(tmp_path, monkeypatch):
    written = []
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda *names: written.append(Path(names[1]).name) or replace(*names))
    X = np.random.default_rng(0).standard_normal((40, 3))
    rows = ArrayRows(X, X[:, 0], block_size=10)
    KRR(alphas=0.1).fit_blocks(rows, checkpoint=tmp_path / "pass.npz", checkpoint_seconds=1e9)
    assert not written
    KRR(alphas=0.1).fit_blocks(rows, checkpoint=tmp_path / "pass.npz", checkpoint_seconds=0)
    assert written == ["pass.npz"] * 4
