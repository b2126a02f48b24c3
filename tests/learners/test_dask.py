"""Learners and maps on Dask rows: the fit in one process, also where workers are killed, in bounded memory."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from rflib.kernels import DeltaGaussian, Gaussian, SphericalPolynomial
from rflib.learners import KRR, ArrayRows, KRRClassifier
from rflib.maps import GORF, MVORF, RFF, MercerFeatures, Nystroem, TensorSketch
from rflib.maps.dask_rows import DaskRows, for_workers
from rflib.maps.row_sample import RowSample

pytest.importorskip("dask", reason="Dask is not installed")
pd = pytest.importorskip("pandas", reason="pandas, which Dask's dataframes need, is not installed")
distributed = pytest.importorskip("distributed", reason="Dask's distributed scheduler is not installed")
import dask  # noqa: E402
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

ALPHAS = (1e-4, 1e-2, 1e-1)
FOURIER = RFF(Gaussian(2.0), n_components=24, random_state=0)
N, D_IN = 1200, 4
NAMES = ["a", "b", "c", "d"]
KILLS = 10


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((N, D_IN))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(N) + 5


@contextmanager
def two_workers(folder):
    """A client of two worker processes, which are gone afterwards."""
    import psutil
    from distributed.utils import get_mp_context

    settings = {
        # Workers begin as forks of a process that has imported what they need, which saves seconds each.
        "distributed.worker.multiprocessing-method": "forkserver",
        # Else a worker that is killed twice may not be started again.
        "distributed.deploy.lost-worker-timeout": "1 hour",
    }
    one = {"threads_per_worker": 1, "memory_limit": "2GiB", "local_directory": str(folder)}
    with dask.config.set(settings):
        needed = "dask.array", "dask.dataframe", "sklearn.pipeline", "rflib.learners.dask_ridge"
        get_mp_context().set_forkserver_preload(["distributed", *needed])
        with (
            distributed.LocalCluster(n_workers=2, dashboard_address=":0", **one) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
            pids = client.run(os.getpid).values()
    assert len(pids) == 2
    assert not any(map(psutil.pid_exists, pids))


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with two_workers(tmp_path_factory.mktemp("workers")) as client:
        yield client


@pytest.fixture
def here():
    with dask.config.set(scheduler="synchronous"):
        yield


def labels_of(y):
    return np.array(["low", "middle", "high"])[np.digitize(y, [4.5, 5.5])]


def assert_same_fit(found, expected):
    assert found.alpha_ == expected.alpha_
    scale = np.abs(expected.coef_).max()
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-10 * scale)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=1e-10, atol=1e-12)
    if hasattr(expected, "cv_errors_"):
        np.testing.assert_allclose(found.cv_errors_, expected.cv_errors_, rtol=1e-9)


def table(X, **more):
    return pd.DataFrame(X, columns=NAMES).assign(**more)


def test_regression_on_a_cluster(client, rows):
    X, y = rows
    weights = np.random.default_rng(0).integers(0, 3, N) / 2
    learner = KRR(feature_map=FOURIER, alphas=ALPHAS)
    odd = da.from_array(X, chunks=((1, 499, 37, 400, 263), 3))
    found = clone(learner).fit(odd, da.from_array(y, chunks=111), da.from_array(weights, chunks=N))
    assert_same_fit(found, clone(learner).fit_blocks(ArrayRows(X, y, weights, block_size=77)))
    predicted = found.predict(odd)
    assert isinstance(predicted, da.Array) and predicted.chunks == (odd.chunks[0],)
    np.testing.assert_allclose(predicted.compute(), found.predict(X), rtol=1e-12)


def test_classification_of_a_dataframe_on_a_cluster(client, rows):
    X, y = rows
    labels = labels_of(y)
    frame = dd.from_pandas(table(X, label=labels), npartitions=7)
    frame = frame[frame["a"] < 1]  # whose lengths are unknown
    seen = X[:, 0] < 1
    learner = KRRClassifier(feature_map=FOURIER, alphas=ALPHAS, criterion="error_rate")
    found = clone(learner).fit(frame[NAMES], frame["label"])
    expected = clone(learner).fit_blocks(ArrayRows(X[seen], labels[seen]))
    assert_same_fit(found, expected)
    assert found.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(found.predict(frame[NAMES]).compute(), expected.predict(X[seen]))
    with pytest.raises(ValueError, match="feature names should match"):
        found.predict(frame[NAMES[::-1]])


def killer(value, flag):
    """A step of a map that kills its worker where it first sees a value, which the caller's rows do not have."""

    def pass_on(X):
        if (X[:, 0] == value).any():
            try:
                os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return X
            os.kill(os.getpid(), signal.SIGKILL)
        return X

    return FunctionTransformer(pass_on)


@pytest.mark.reliability
def test_a_killed_worker_loses_no_block_and_doubles_none(client, rows, tmp_path):
    """A task kills its worker on a block, from the second to the last, with all sums that it holds."""
    X, y = rows
    size = N // (2 * KILLS)
    whole = KRR(feature_map=FOURIER, alphas=ALPHAS).fit_blocks(ArrayRows(X, y))
    blocks = da.from_array(X, chunks=(size, D_IN)), da.from_array(y, chunks=size)
    for kill in range(KILLS):
        client.wait_for_workers(2)
        before = set(client.run(os.getpid).values())
        flag = tmp_path / str(kill)
        row = size * (2 * kill + 1) + 5
        learner = KRR(feature_map=make_pipeline(killer(X[row, 0], str(flag)), FOURIER), alphas=ALPHAS)
        assert_same_fit(learner.fit(*blocks), whole)
        assert flag.exists()
        client.wait_for_workers(2)
        assert len(set(client.run(os.getpid).values()) - before) == 1


def peak_memory():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="peaks of memory are read from Linux's /proc"
)
@pytest.mark.reliability
def test_memory_of_a_worker_follows_the_squared_columns_and_the_block(tmp_path):
    """There are never more sums of five folds than four chains of tasks and two that are made.

    Another two allow for what is sent and received. The features of all rows would take 320 MB.
    """
    height, n_blocks, d = 4000, 20, 8
    with two_workers(tmp_path) as client:

        def fit(D, n_blocks):
            X = da.random.default_rng(0).standard_normal((n_blocks * height, d), chunks=(height, d))
            learner = KRR(feature_map=RFF(Gaussian(), D, random_state=0), block_size=500, alphas=ALPHAS)
            learner.fit(X, X[:, 0])

        fit(2, 8)
        base = client.run(peak_memory)
        for D in (300, 500):
            fit(D, n_blocks)
            sums, features = 5 * D**2 * 8, 500 * D * 8
            for worker, peak in client.run(peak_memory).items():
                assert peak - base[worker] < 8 * sums + 4 * features, (D, peak, base)


@settings(max_examples=25)
@given(
    chunks=st.lists(st.integers(0, N), max_size=6).map(sorted),
    known=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
    weighted=st.booleans(),
    classifier=st.booleans(),
    criterion=st.sampled_from(["squared_error", "marginal_likelihood", "error_rate"]),
    one_alpha=st.booleans(),
)
def test_the_fit_does_not_depend_on_the_chunks(
    rows, chunks, known, dtype, weighted, classifier, criterion, one_alpha
):
    """Also with blocks that have no rows, and with numbers of rows that are unknown."""
    X, y = rows[0].astype(dtype), rows[1]
    weights = np.random.default_rng(0).integers(0, 3, N) / 2 if weighted else None
    learner = KRR(feature_map=FOURIER, alphas=0.1 if one_alpha else ALPHAS, gram_dtype="float64")
    if classifier:
        learner, y = KRRClassifier(**learner.get_params(deep=False)), labels_of(y)
        learner.set_params(criterion=criterion)
    elif criterion != "error_rate":
        learner.set_params(criterion=criterion)
    lengths = tuple(map(int, np.diff([0, *chunks, N])))
    given = [da.from_array(a, chunks=(lengths, *a.shape[1:])) for a in (X, y)]
    given.append(None if weights is None else da.from_array(weights, chunks=(lengths,)))
    if not known:
        for array in given:
            if array is not None:
                array._chunks = (tuple(np.nan for _ in lengths), *array.chunks[1:])
    with dask.config.set(scheduler="synchronous"):
        found = clone(learner).fit(*given)
        predicted = found.predict(given[0]).compute()
    blocks = clone(learner).fit_blocks(ArrayRows(X, y, weights))
    assert found.alpha_ == blocks.alpha_
    rough = dtype == np.float32
    np.testing.assert_allclose(found.coef_, blocks.coef_, rtol=1e-6, atol=1e-8)
    assert predicted.dtype == found.predict(X).dtype
    if not classifier:
        np.testing.assert_allclose(predicted, found.predict(X), rtol=1e-4 if rough else 1e-10)


@pytest.mark.parametrize(
    "feature_map",
    [
        RFF(Gaussian("median"), n_components=10, random_state=0),
        MVORF(Gaussian(), n_components=16, random_state=0),
        MercerFeatures(Gaussian(), 16, random_state=0),
        *(Nystroem(Gaussian(), 10, landmarks=rule, random_state=0) for rule in ("uniform", "kmeans")),
        Nystroem(Gaussian(), 10, landmarks="rpcholesky", random_state=0),
    ],
    ids=repr,
)
def test_maps_that_need_rows_get_a_sample(here, rows, feature_map):
    """It is all rows where these are few enough; the features are those of the map that is fitted in memory."""
    X = rows[0]
    blocks = da.from_array(X, chunks=(170, 3))
    features = clone(feature_map).fit(blocks).transform(blocks)
    assert isinstance(features, da.Array) and features.chunks[0] == blocks.chunks[0]
    np.testing.assert_allclose(features.compute(), feature_map.fit(X).transform(X), rtol=1e-9, atol=1e-12)


def test_a_sample_is_that_of_the_rows_in_memory(here):
    """A sample of some of 30,000 rows does not depend on their blocks, and has targets of the same rows."""
    X = np.arange(60_000.0).reshape(30_000, 2)
    y = X[:, 0] / 2
    whole = RowSample(100, seed=3)
    whole.add(X, y)
    expected = whole.rows()
    for chunks in (30_000, 777, (1, 0, 29_999)):
        found = DaskRows(KRR(), da.from_array(X, chunks=(chunks, 2)), y).sample(100, seed=3)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    large = Nystroem(Gaussian(1e4), 5, landmarks="uniform", random_state=0)
    fits = [large.fit(da.from_array(X, chunks=(chunks, 2))).landmarks_ for chunks in (30_000, 4321)]
    np.testing.assert_array_equal(*fits)
    learner = KRR(feature_map=large, alphas=1e-3)
    expected = clone(learner).fit_blocks(ArrayRows(X, y)).feature_map_.landmarks_
    found = learner.fit(da.from_array(X, chunks=(4321, 2)), y).feature_map_.landmarks_
    np.testing.assert_array_equal(found, expected)


def test_a_stream_has_the_sample_of_dask_rows(here, rows, monkeypatch):
    monkeypatch.setattr(MercerFeatures, "_sample_size", 200)
    X = rows[0]
    found = MercerFeatures(Gaussian("median"), 16, random_state=0).fit(da.from_array(X, chunks=(170, 3)))
    streamed = MercerFeatures(Gaussian("median"), 16, random_state=0)
    for block in np.split(X, [400, 500]):
        streamed.partial_fit(block)
    np.testing.assert_array_equal(streamed.transform(X), found.transform(X))
    lazy = streamed.transform(da.from_array(X, chunks=(170, 3)))
    np.testing.assert_allclose(lazy.compute(), streamed.transform(X), rtol=1e-9, atol=1e-12)


def test_transform_is_lazy_and_keeps_the_type(here, rows):
    loaded = []
    X = da.from_array(rows[0].astype(np.float32), chunks=(500, 4))
    X = X.map_blocks(lambda block: (loaded.append(len(block)), block)[1], dtype=X.dtype, meta=X._meta)
    features = clone(FOURIER).fit(X[:600])
    loaded.clear()
    Z = features.transform(X)
    assert not loaded and Z.dtype == np.float32 and Z.shape == (N, 24)
    np.testing.assert_array_equal(Z.blocks[1].compute(), features.transform(rows[0][500:1000].astype("f4")))
    assert loaded == [500]
    frame = dd.from_pandas(table(rows[0]), npartitions=3)
    frame = frame[frame["a"] > 5]  # no rows
    fitted = clone(FOURIER).fit(table(rows[0]))
    assert fitted.transform(frame).compute().shape == (0, 24)
    with pytest.raises(ValueError, match=r"^RFF: there are no rows"):
        clone(FOURIER).fit(frame)
    with pytest.raises(NotFittedError):
        clone(FOURIER).transform(X)
    unit = rows[0] / np.linalg.norm(rows[0], axis=1, keepdims=True)
    series = MVORF(SphericalPolynomial(a=4, p=10), 16, random_state=0).fit(da.from_array(unit, chunks=500))
    np.testing.assert_allclose(
        series.transform(da.from_array(unit, chunks=500)).compute(), series.transform(unit), rtol=1e-9
    )


def test_other_learners_settings_and_rows(here, rows):
    """Several targets, signed features, maps that are already fitted, features without a map, sparse blocks."""
    X, y = rows
    A, B = da.from_array(X, chunks=(170, 4)), da.from_array(y, chunks=170)
    Y = np.column_stack([y, X[:, 2]])
    signed = GORF(DeltaGaussian(), n_components=24, random_state=0)
    frozen = FrozenEstimator(Nystroem(Gaussian(), 10, random_state=0).fit(X))
    for learner, targets in (
        (KRR(feature_map=FOURIER, alphas=ALPHAS), Y),
        (KRR(feature_map=signed, signed="krein", alphas=0.1), y),
        (KRR(feature_map=frozen, alphas=ALPHAS), y),
        (KRR(alphas=ALPHAS), y),
    ):
        found = clone(learner).fit(A, da.from_array(targets, chunks=(300, *targets.shape[1:])))
        assert_same_fit(found, clone(learner).fit_blocks(ArrayRows(X, targets)))
        np.testing.assert_allclose(found.predict(A).compute(), found.predict(X), rtol=1e-9)
    positive = np.where(X > 0.5, X, 0)
    sketch = KRR(feature_map=TensorSketch(n_components=32, random_state=0), alphas=0.1)
    S = da.from_array(positive, chunks=(170, 4)).map_blocks(sparse.csr_array)
    found = clone(sketch).fit(S, B)
    assert_same_fit(found, sketch.fit_blocks(ArrayRows(positive, y)))
    goes_on = KRR(feature_map=FOURIER, alphas=0.1).fit(A[:600], B[:600]).partial_fit(X[600:], y[600:])
    assert_same_fit(goes_on, KRR(feature_map=FOURIER, alphas=0.1).fit_blocks(ArrayRows(X, y)))


def test_errors_name_the_block_and_leave_the_learner(here, rows):
    X, y = rows
    A, B = da.from_array(X, chunks=(170, 4)), da.from_array(y, chunks=170)
    learner = KRR(feature_map=FOURIER, alphas=0.1).fit(A, B)
    before = learner.coef_.copy()
    bad = X.copy()
    bad[600, 1] = np.nan
    frame = dd.from_pandas(table(X, y=y), npartitions=4)
    for arguments, message in (
        (
            (da.from_array(bad, chunks=(170, 4)), B),
            "in block 3 of the Dask rows, row 90: Input X contains NaN in column 1",
        ),
        ((A, B, -da.ones(N)), "in block 0 of the Dask rows, row 0: sample_weight is -1"),
        ((A, B, da.zeros(N)), "all rows have the weight zero"),
        ((A, B[:-1]), "X has 1200 rows, but y has 1199"),
        ((A[:0], B[:0]), "there are no rows"),
        ((B, B), "X must have two dimensions, got a Dask array with 1"),
        ((frame[NAMES], y), "y must be a Dask collection too .*compute_chunk_sizes"),
        ((frame[NAMES], frame["y"].repartition(npartitions=2)), "X has 4 blocks, but y has 2"),
        ((frame[NAMES], frame["y"][frame["a"] > 0]), r"in block 0 .* inconsistent numbers of samples"),
    ):
        with pytest.raises(ValueError, match=f"(?s)^KRR: {message}"):
            learner.fit(*arguments)
        np.testing.assert_array_equal(learner.coef_, before)
    with pytest.raises(TypeError, match=r"^KRR: of Dask's collections, arrays and dataframes .* got Delayed"):
        learner.fit(dask.delayed(X), B)
    with pytest.raises(ValueError, match="fit on Dask rows needs cv to be a number of folds"):
        KRR(cv=[([0], [1])]).fit(A, B)
    with pytest.raises(ValueError, match=r"^KRR: predict takes Dask rows where it returns one array"):
        learner.predict(A, return_std=True)
    with pytest.raises(ValueError, match="X has 3 features, but KRR is expecting 4"):
        learner.predict(A[:, :3])
    labels = da.from_array(labels_of(y), chunks=170)
    with pytest.raises(ValueError, match=r"^KRRClassifier: all rows have the weight zero"):
        KRRClassifier().fit(A, labels, da.zeros(N))
    with pytest.raises(ValueError, match="needs two classes or more, got one class: 'low'"):
        KRRClassifier().fit(A, da.from_array(np.full(N, "low"), chunks=170))


def test_a_map_that_begins_with_columns_gets_them_by_name(here):
    """Fitted on a sample with names; on workers blocks are given the names again, without a warning."""
    frame = pd.DataFrame({"a": np.arange(60.0), "colour": np.tile(["red", "blue"], 30)})
    y = frame["a"] / 60 + (frame["colour"] == "red")
    columns = make_column_transformer((StandardScaler(), ["a"]), (OneHotEncoder(), ["colour"]))
    learner = KRR(feature_map=make_pipeline(columns, FOURIER), alphas=(1e-3, 1e-1))
    found = clone(learner).fit(dd.from_pandas(frame, npartitions=3), dd.from_pandas(y, npartitions=3))
    expected = clone(learner).fit_blocks(ArrayRows(frame, y, block_size=25))
    np.testing.assert_allclose(found.predict(frame), expected.predict(frame), rtol=1e-8)


def test_labels_of_rows_without_weight_do_not_count(here, rows):
    X, y = rows
    labels = labels_of(y)
    weights = (labels != "high").astype(float)
    arrays = [da.from_array(a, chunks=(170, *a.shape[1:])) for a in (X, labels, weights)]
    found = KRRClassifier(feature_map=FOURIER, alphas=0.1).fit(*arrays)
    assert found.classes_.tolist() == ["low", "middle"]
    expected = KRRClassifier(feature_map=FOURIER, alphas=0.1).fit_blocks(ArrayRows(X, labels, weights))
    assert_same_fit(found, expected)


def test_what_is_sent_for_predictions_holds_no_gram_matrix(here, rows):
    X, y = rows
    learner = KRR(feature_map=FOURIER, alphas=0.1).fit(X, y)
    learner.predict(X, return_std=True)
    assert not {"_state", "_posterior"} & vars(for_workers(learner)).keys()
    assert learner.partial_fit(X, y).predict(X).shape == (N,)


def test_dask_is_not_imported_without_dask_rows():
    program = """
import sys
from rflib.learners import KRR
from rflib.maps import RFF
KRR(feature_map=RFF(n_components=4), cv=2).fit([[0.0], [1.0]], [0.0, 1.0]).predict([[0.0]])
assert "dask" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
