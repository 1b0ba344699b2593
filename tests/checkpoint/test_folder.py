import contextlib
import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.mixture import GaussianMixture
from sklearn.svm import SVC

from coreclust import CoreClustering, LabelEnsemble, core_clustering
from coreclust._checkpoint import folder as checkpoint
from coreclust._sampling.fit import choose_engine, open_checkpoint
from coreclust._sampling.problem import check_problem
from coreclust._utils import files
from coreclust.cluster import HierarchicalClustering, KMeans
from coreclust.evidence._labeling import Block
from coreclust.resampling import Bootstrap, KnownDistribution, Subsample


def fit(X, estimator=None, n_resamples=60, y=None, groups=None, **settings):
    settings = {"random_state": 0, "alpha": 0.5} | settings  # few resamples do for that alpha
    estimator = KMeans(3, n_init=2) if estimator is None else estimator
    cc = CoreClustering(estimator, n_resamples=n_resamples, **settings)
    return cc.fit(X, y, groups=groups)


def assert_same_answer(found, expected):
    assert found.ensemble_.labels.dtype == expected.ensemble_.labels.dtype
    assert found.ensemble_ == expected.ensemble_
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.reference_labels_, expected.reference_labels_)
    assert found.n_resamples_ == expected.n_resamples_
    assert found.n_dropped_resamples_ == expected.n_dropped_resamples_


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.ccz"


@pytest.fixture
def piece_per_block(monkeypatch):
    """Every block of resamples becomes a piece at once."""
    monkeypatch.setattr(checkpoint, "_PATIENCE", 0.0)
    monkeypatch.setattr(checkpoint, "_SHARE", np.inf)
    monkeypatch.setattr(checkpoint, "_LOSS", 0.0)


def checkpoint_of(path, X, engine="auto"):
    """The checkpoint of a fit, opened by itself."""
    cc = CoreClustering(KMeans(3, n_init=2), random_state=0, engine=engine, checkpoint=path)
    problem = check_problem(cc, cc.estimator, X, None, None)
    return open_checkpoint(problem, cc, choose_engine(problem, cc))


def pieces(path):
    return sorted(path.glob("piece-*.ccp"))


class Counting:
    """A clustering function that knows how often it was called."""

    def __init__(self):
        self.n_calls = 0

    def __getstate__(self):
        return None  # the count is no setting

    def __call__(self, Z, random_state):
        self.n_calls += 1
        return (Z[:, 0] > np.random.default_rng(random_state).choice(Z[:, 0])).astype(int)


SCRIPT = textwrap.dedent(
    """
    import sys
    import numpy as np
    from coreclust import CoreClustering
    from coreclust._checkpoint import folder as checkpoint
    from coreclust.cluster import KMeans

    checkpoint._PATIENCE = 0.02
    path, data, engine, n_jobs = sys.argv[1:]
    cc = CoreClustering(KMeans(3, n_init=2), n_resamples=300_000, random_state=0, engine=engine,
                        checkpoint=path, n_jobs=int(n_jobs))
    try:
        cc.fit(np.load(data))
    except KeyboardInterrupt as interrupt:
        print(interrupt)
        sys.exit(3)
    """
)


def stop_midway(path, data, how, engine="auto", n_jobs=1):
    """Start a run in another process and stop it by a signal after some pieces."""
    told = path.with_name("told")
    with told.open("w") as file:  # not a pipe: workers that outlive their parent keep it open
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, path, data, engine, str(n_jobs)],
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        while len(pieces(path)) < 3:
            assert process.poll() is None, told.read_text()
            time.sleep(0.01)
        os.kill(process.pid, how)
        code = process.wait(timeout=60)
        return told.read_text(), code
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="sends POSIX signals")
@pytest.mark.parametrize(("engine", "n_jobs"), [("auto", 2), ("generic", 1), ("generic", 2)])
def test_a_killed_run_goes_on_to_the_same_answer(tmp_path, path, blobs, engine, n_jobs):
    np.save(tmp_path / "X.npy", blobs)
    _, code = stop_midway(path, tmp_path / "X.npy", signal.SIGKILL, engine, n_jobs)
    assert code == -signal.SIGKILL
    with checkpoint_of(path, blobs, engine) as kept:
        n_kept = kept.n_tried
    assert n_kept >= 3
    found = fit(blobs, n_resamples=n_kept + 40, engine=engine, checkpoint=path)
    assert_same_answer(found, fit(blobs, n_resamples=n_kept + 40, engine=engine))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="sends POSIX signals")
def test_an_interrupted_run_keeps_all_that_was_done(tmp_path, path, blobs):
    np.save(tmp_path / "X.npy", blobs)
    out, code = stop_midway(path, tmp_path / "X.npy", signal.SIGINT)
    assert code == 3, out
    told = re.search(
        r"Interrupted after (\d+) of 300000 resamples were clustered\. They are kept", out
    )
    with checkpoint_of(path, blobs) as kept:
        n_kept = kept.n_tried
    assert n_kept == int(told[1])
    found = fit(blobs, n_resamples=n_kept + 40, checkpoint=path)
    assert_same_answer(found, fit(blobs, n_resamples=n_kept + 40))


def cut_short(piece):
    os.truncate(piece, piece.stat().st_size - 1)


def cut_to_nothing(piece):
    os.truncate(piece, 0)


def flip_a_bit(piece, place=-40):
    data = bytearray(piece.read_bytes())
    data[place] ^= 1
    piece.write_bytes(data)


def flip_a_bit_of_the_head(piece):
    flip_a_bit(piece, 3)


def append_a_byte(piece):
    piece.write_bytes(piece.read_bytes() + b"0")


def exchange_with_the_first(piece):
    shutil.copy(pieces(piece.parent)[0], piece)


DAMAGE = [
    cut_short,
    cut_to_nothing,
    flip_a_bit,
    flip_a_bit_of_the_head,
    append_a_byte,
    exchange_with_the_first,
]


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("which", [-1, 3])
def test_a_torn_piece_and_those_behind_it_run_again(path, blobs, piece_per_block, damage, which):
    function = Counting()
    expected = fit(blobs, function, n_resamples=12, checkpoint=path)
    assert len(pieces(path)) == 12
    damage(pieces(path)[which])
    function.n_calls = 0
    with pytest.warns(RuntimeWarning, match=r"damaged at piece-0.*; the resamples from \d+ on are"):
        found = fit(blobs, function, n_resamples=12, checkpoint=path)
    assert_same_answer(found, expected)
    assert function.n_calls == 1 + (1 if which == -1 else 9)  # the data as given, and the resamples
    assert_same_answer(fit(blobs, function, n_resamples=12, checkpoint=path), expected)


def test_a_missing_piece_is_a_damage(path, blobs, piece_per_block):
    expected = fit(blobs, Counting(), n_resamples=6, checkpoint=path)
    pieces(path)[2].unlink()
    with pytest.warns(
        RuntimeWarning, match="damaged at piece-000000003.ccp; the resamples from 2 on"
    ):
        found = fit(blobs, Counting(), n_resamples=6, checkpoint=path)
    assert_same_answer(found, expected)


def test_what_a_killed_write_leaves_is_removed_silently(path, blobs):
    expected = fit(blobs, checkpoint=path)
    for name in (".piece-000000060.ccp.abc", ".labels.npy.abc", ".header.json.abc"):
        (path / name).write_bytes(b"half of a pie")
    (path / ".of_the_user").touch()
    assert_same_answer(fit(blobs, checkpoint=path), expected)
    assert {name for name in os.listdir(path) if name.startswith(".")} == {".of_the_user"}


def test_a_run_killed_before_its_header_begins_anew(path, blobs):
    path.mkdir()
    (path / ".header.json.abc").write_bytes(b"{")
    (path / "lock").touch()
    assert_same_answer(fit(blobs, checkpoint=path), fit(blobs))


class FullDisk:
    """Hands out files that take a limited number of bytes, as a full disk does."""

    def __init__(self, room):
        self.room = room

    def __call__(self, descriptor, mode):
        file, disk = REAL_OPEN(descriptor, mode), self

        class Limited:
            def __enter__(self):
                return self

            def __exit__(self, *_):
                file.close()

            def __getattr__(self, name):
                return getattr(file, name)

            def write(self, data):
                n_bytes = memoryview(data).nbytes
                if n_bytes > disk.room:
                    file.write(memoryview(data).cast("B")[: disk.room])
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                disk.room -= n_bytes
                return file.write(data)

        return Limited()


REAL_OPEN = os.fdopen


@pytest.mark.parametrize("room", [10, 1500, 2500])  # the header has 700 bytes, a piece 250
def test_a_full_disk_leaves_a_checkpoint_to_go_on_from(
    path, blobs, piece_per_block, monkeypatch, room
):
    function = Counting()
    with monkeypatch.context() as patched:
        patched.setattr(files.os, "fdopen", FullDisk(room))
        with pytest.raises(OSError, match=r"run.ccz' could not be written \(No space left") as told:
            fit(blobs, function, n_resamples=30, checkpoint=path)
    assert told.value.errno == errno.ENOSPC
    n_kept = len(pieces(path))
    assert f"holds {n_kept} resamples" in str(told.value)
    assert n_kept > 0 or room < 700
    assert not [name for name in os.listdir(path) if name.startswith(".")]
    function.n_calls = 0
    found = fit(blobs, function, n_resamples=30, checkpoint=path)
    assert function.n_calls == 1 + 30 - n_kept
    assert_same_answer(found, fit(blobs, Counting(), n_resamples=30))


def shifted(blobs):
    other = blobs.copy()
    other[17, 1] = np.nextafter(other[17, 1], 9)
    return other


CLASSES = np.repeat([0, 1, 2], 20)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"X": shifted}, r"X='<float64 array of shape \(60, 2\), \w+>', this call has X='<float64"),
        ({"X": lambda X: X[:-1]}, r"X='<float64 array of shape \(60, 2\).*\(59, 2\)"),
        ({"X": lambda X: X.astype(np.float32)}, "X='<float64 array .*<float32 array"),
        ({"estimator": KMeans(4, n_init=2)}, "n_clusters=3, this estimator has n_clusters=4;"),
        ({"estimator": SklearnKMeans(3)}, "estimator='coreclust.*has estimator='sklearn"),
        ({"estimator": len}, "estimator='coreclust.*KMeans', this call has .*builtins.len"),
        ({"random_state": 1}, "random_state=0, this call has random_state=1"),
        ({"random_state": None}, "random_state=0, this call has random_state=None"),
        ({"random_state": np.random.RandomState(0)}, "random_state=0, .*RandomState"),
        ({"resampling": Subsample()}, "resampling='.*Bootstrap', this call has .*Subsample"),
        ({"resampling": Bootstrap("all")}, "label='drawn', this resampling has label='all'"),
        ({"groups": CLASSES}, r"groups=None, this call has groups='<int64 array"),
        ({"engine": "generic"}, "engine='auto', this call has engine='generic'"),
        ({"keep_models": True}, "keep_models=False, this call has keep_models=True"),
    ],
)
def test_a_checkpoint_of_something_else_is_refused_by_name(path, blobs, change, told):
    expected = fit(blobs, checkpoint=path)
    change = dict(change)
    X = change.pop("X", lambda X: X)(blobs)
    with pytest.raises(ValueError, match=rf"run.ccz' was made with {told}"):
        fit(X, checkpoint=path, **change)
    assert_same_answer(fit(blobs, checkpoint=path), expected)  # it is none the worse for it


def test_several_differences_are_all_named(path, blobs):
    fit(blobs, checkpoint=path)
    with pytest.raises(ValueError, match=r"n_clusters=3.*; and with random_state=0.*; use another"):
        fit(blobs, KMeans(5, n_init=2), random_state=3, checkpoint=path)


def test_classes_belong_to_the_data(path, blobs):
    fit(blobs, SVC(), 5, CLASSES, checkpoint=path)
    fit(blobs, KMeans(3), 5, CLASSES, checkpoint=path.with_name("other"))
    fit(blobs, KMeans(3), 5, 1 - CLASSES, checkpoint=path.with_name("other"))  # ignores them
    with pytest.raises(ValueError, match="was made with y='<int64 array"):
        fit(blobs, SVC(), 5, 2 - CLASSES, checkpoint=path)


def test_what_only_cuts_the_cores_may_change(path, blobs):
    fit(blobs, checkpoint=path)
    for settings in ({"alpha": 0.3}, {"noise": "absent"}, {"n_jobs": 2}, {"confidence": 0.1}):
        found = fit(blobs, checkpoint=path, **settings)
        assert_same_answer(found, fit(blobs, **settings))


@pytest.mark.parametrize("large", [False, True])
def test_growing_runs_what_is_new_and_shrinking_nothing(path, blobs, monkeypatch, large):
    if large:
        monkeypatch.setattr(checkpoint, "LARGE", 0)
    function = Counting()
    for n_resamples, n_new in ((10, 10), (25, 15), (25, 0), (7, 0), (26, 1)):
        function.n_calls = 0
        found = fit(blobs, function, n_resamples, checkpoint=path)
        assert function.n_calls == 1 + n_new
        assert isinstance(found.ensemble_.labels, np.memmap) == large
        assert_same_answer(found, fit(blobs, Counting(), n_resamples))


@pytest.mark.skipif(sys.platform != "linux", reason="limits open files")
@pytest.mark.parametrize("large", [False, True])
def test_more_pieces_than_a_process_may_open(path, blobs, monkeypatch, piece_per_block, large):
    import resource

    expected = fit(blobs, Counting(), 60, checkpoint=path)
    assert len(pieces(path)) == 60
    if large:
        monkeypatch.setattr(checkpoint, "LARGE", 0)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(map(int, os.listdir("/proc/self/fd")))
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 20, limits[1]))
    try:
        found = fit(blobs, Counting(), 60, checkpoint=path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert_same_answer(found, expected)


def test_pieces_get_rarer_in_a_long_run(path, blobs, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: now[0])
    block = Block(np.zeros((1, 60), np.int8), [], [])
    written = []
    with checkpoint_of(path, blobs) as kept:
        for second in range(3000):
            now[0] = float(second)
            kept.add(block)
            if kept.n_tried and (not written or kept.n_tried > written[-1]):
                written.append(kept.n_tried)
    gaps = np.diff([0, *written])
    assert gaps[0] == 3  # of two seconds
    assert gaps[-1] == 30  # a hundredth of the time
    assert len(written) < 400  # and not 1500


@pytest.mark.parametrize("large", [False, True])
def test_auto_goes_on_from_a_checkpoint_too(path, blobs, monkeypatch, large):
    if large:
        monkeypatch.setattr(checkpoint, "LARGE", 0)
    expected = fit(blobs, n_resamples="auto")
    fit(blobs, n_resamples=230, checkpoint=path)
    found = fit(blobs, n_resamples="auto", checkpoint=path)
    assert_same_answer(found, expected)
    assert_same_answer(fit(blobs, n_resamples="auto", checkpoint=path), expected)
    assert found.n_resamples_ >= 250


def sometimes(Z):
    """Fails on about one in four resamples, on all tries."""
    if Z.sum() % 1 < 0.75:
        raise ZeroDivisionError(f"no luck with {Z[0, 0]:.2f}")
    return (Z[:, 0] > 1).astype(int)


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("n_resamples", [9, 25, 40])
def test_resamples_that_fail_are_kept_as_failures(
    path, blobs, piece_per_block, monkeypatch, large, n_resamples
):
    X = blobs - blobs.sum() / 120 + 0.9 / 120  # the data as given succeeds
    if large:
        monkeypatch.setattr(checkpoint, "LARGE", 0)
    with pytest.warns(RuntimeWarning, match="could not be clustered"):
        fit(X, sometimes, 25, checkpoint=path)
    with pytest.warns(RuntimeWarning, match="could not be clustered") as expected_warnings:
        expected = fit(X, sometimes, n_resamples)
    with pytest.warns(RuntimeWarning, match="could not be clustered") as found_warnings:
        found = fit(X, sometimes, n_resamples, checkpoint=path)
    assert_same_answer(found, expected)
    assert found.n_dropped_resamples_ > 0
    assert str(found_warnings[0].message) == str(expected_warnings[0].message)


def test_a_run_that_is_lost_stays_lost(path):
    X = np.arange(40.0)[:, None]

    def dislikes_copies(Z):
        if np.unique(Z).size < len(Z):
            raise ZeroDivisionError
        return np.zeros(len(Z), int)

    for n_resamples in (4, 4, 10):
        with pytest.raises(RuntimeError, match=rf" of {n_resamples} resamples .*More than half"):
            fit(X, dislikes_copies, n_resamples, checkpoint=path)


@pytest.mark.slow
def test_labels_that_need_more_bytes_later(path):
    X = np.arange(400.0)[:, None]

    def many(Z):
        few = Z[:5].sum() % 2 == 1
        return np.arange(len(Z)) % (100 if few else 300)

    assert fit(X, many, 1).ensemble_.labels.dtype == np.int8
    for n_resamples in (1, 12, 1, 3, 20):
        found = fit(X, many, n_resamples, checkpoint=path)
        assert_same_answer(found, fit(X, many, n_resamples))
    assert found.ensemble_.labels.dtype == np.int16


def test_without_a_seed_the_run_that_goes_on_takes_the_first_one(path, blobs, monkeypatch):
    began = fit(blobs, n_resamples=20, random_state=None, checkpoint=path)
    went_on = fit(blobs, n_resamples=30, random_state=None, checkpoint=path)
    assert LabelEnsemble(went_on.ensemble_.labels[:, :20]) == began.ensemble_
    entropy = json.loads((path / "header.json").read_text())["entropy"]
    monkeypatch.setattr(core_clustering, "draw_entropy", lambda _: entropy)
    assert_same_answer(went_on, fit(blobs, n_resamples=30, random_state=None))


def test_a_random_state_object_stands_for_the_state_it_is_in(path, blobs):
    began = fit(blobs, random_state=np.random.RandomState(3), checkpoint=path)
    assert_same_answer(fit(blobs, random_state=np.random.RandomState(3), checkpoint=path), began)
    used = np.random.RandomState(3)
    fit(blobs, random_state=used)
    with pytest.raises(ValueError, match=r"random_state='<.*RandomState"):
        fit(blobs, random_state=used, checkpoint=path)


@pytest.mark.parametrize("estimator", [KMeans(3, n_init=2), SklearnKMeans(3)])
def test_kept_centers_come_back(path, blobs, estimator):
    expected = fit(blobs, estimator, keep_models=True)
    fit(blobs, estimator, 20, keep_models=True, checkpoint=path)
    found = fit(blobs, estimator, keep_models=True, checkpoint=path)
    assert_same_answer(found, expected)
    new = blobs[::3] + 0.3
    np.testing.assert_array_equal(found.predict(new), expected.predict(new))
    for one, other in zip(found._models, expected._models, strict=True):
        np.testing.assert_array_equal(one.centers, other.centers)


def test_other_models_are_not_kept(path, blobs):
    for settings in (
        {"estimator": GaussianMixture(3)},
        {"engine": "generic"},
    ):
        with pytest.raises(
            ValueError, match="checkpoint can keep models only of clusterers with compiled code"
        ):
            fit(blobs, keep_models=True, checkpoint=path, **settings)
    assert not path.exists()


def test_known_distributions_have_no_checkpoint(path, blobs):
    scheme = KnownDistribution(blobs)
    with pytest.raises(ValueError, match="checkpoint cannot be used with resampling=Known"):
        fit(blobs, resampling=scheme, checkpoint=path)


@pytest.mark.slow
def test_a_pairwise_estimator_has_a_checkpoint(path, blobs):
    D = np.linalg.norm(blobs[:, None] - blobs, axis=-1)
    estimator = HierarchicalClustering(3, metric="precomputed")
    fit(D, estimator, 20, checkpoint=path)
    assert_same_answer(fit(D, estimator, checkpoint=path), fit(D, estimator))


HOLD = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from coreclust._checkpoint.locks import Lock
    lock = Lock(Path(sys.argv[1]) / "lock")
    print("held", flush=True)
    sys.stdin.read()
    """
)


def test_two_processes_do_not_share_a_checkpoint(path, blobs):
    fit(blobs, n_resamples=5, checkpoint=path)
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(RuntimeError, match=rf"in use by process {process.pid} on .*; wait"):
            fit(blobs, checkpoint=path)
    finally:
        process.kill()
        process.communicate()
    assert_same_answer(fit(blobs, checkpoint=path), fit(blobs))  # the dead hold no locks


def test_nor_do_two_calls_in_one(path, blobs):
    with (
        checkpoint_of(path, blobs),
        pytest.raises(RuntimeError, match="in use by another call in this process"),
    ):
        fit(blobs, checkpoint=path)
    fit(blobs, checkpoint=path)


def test_folders_and_files_of_others_are_left_alone(tmp_path, blobs):
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(ValueError, match="file' must be a folder or a new path, and is a file"):
        fit(blobs, checkpoint=file)
    with pytest.raises(ValueError, match=r"without header.json that holds .* such as 'file'"):
        fit(blobs, checkpoint=tmp_path)
    assert file.read_text() == "mine"
    fit(blobs, checkpoint=str(tmp_path / "a" / "b"))
    assert len(pieces(tmp_path / "a" / "b")) == 1


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": "coreclust.Checkpoint"}', "\x00"])
def test_a_damaged_header_is_refused(path, blobs, text):
    fit(blobs, checkpoint=path)
    (path / "header.json").write_text(text)
    with pytest.raises(ValueError, match=r"header.json that is damaged"):
        fit(blobs, checkpoint=path)


def change_header(path, checksum=lambda header: header.get("checksum"), **changes):
    """Change entries of the header; the checksum stays as it is unless told otherwise."""
    file = path / "header.json"
    header = json.loads(file.read_text()) | changes
    header["checksum"] = checksum(header)
    file.write_text(json.dumps(header, indent=1))


@pytest.mark.parametrize("random_state", [0, None])
def test_a_damaged_seed_is_refused_and_loses_nothing(path, blobs, random_state):
    expected = fit(blobs, random_state=random_state, checkpoint=path)
    text = (path / "header.json").read_bytes()
    change_header(path, entropy=1 + json.loads(text)["entropy"])
    for _ in range(2):  # the first call used to delete the pieces, and the second to say nothing
        with pytest.raises(ValueError, match=r"header.json that is damaged"):
            fit(blobs, random_state=random_state, checkpoint=path)
    (path / "header.json").write_bytes(text)
    assert_same_answer(fit(blobs, random_state=random_state, checkpoint=path), expected)


@pytest.mark.parametrize("make", [lambda: 3, lambda: np.int64(3), lambda: np.random.RandomState(3)])
def test_a_seed_that_random_state_does_not_give_is_refused(path, blobs, make):
    fit(blobs, random_state=make(), checkpoint=path)
    change_header(path, checkpoint._checksum, entropy=5)
    with pytest.raises(ValueError, match=r"resamples of the seed 5, and random_state=.* the seed"):
        fit(blobs, random_state=make(), checkpoint=path)


def test_no_bit_of_a_header_changes_unnoticed(path, blobs):
    fit(blobs, random_state=None, checkpoint=path)
    text = (path / "header.json").read_bytes()
    header = checkpoint._read_header(text, path)
    for place in range(len(text)):
        for bit in range(8):
            damaged = bytearray(text)
            damaged[place] ^= 1 << bit
            with contextlib.suppress(ValueError):
                assert checkpoint._read_header(bytes(damaged), path) == header  # other spaces


def test_formats_and_versions(path, blobs):
    fit(blobs, checkpoint=path)
    header = json.loads((path / "header.json").read_text())
    for version in (1, 2, 99):
        (path / "header.json").write_text(json.dumps(header | {"version": version}))
        told = f"has version {version} of the format, and this release reads version 3"
        with pytest.raises(ValueError, match=told):
            fit(blobs, checkpoint=path)


def test_another_version_of_a_library_is_said(path, blobs, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(checkpoint, "_versions", lambda: {"numpy": "1.0"})
        expected = fit(blobs, checkpoint=path)
    with pytest.warns(UserWarning, match=r"was begun with coreclust None, numpy 1.0, scikit-learn"):
        assert_same_answer(fit(blobs, checkpoint=path), expected)


def test_the_lock_is_free_after_a_refusal(path, blobs):
    fit(blobs, checkpoint=path)
    for _ in range(2):
        with pytest.raises(ValueError, match="n_clusters"):
            fit(blobs, KMeans(9), checkpoint=path)


@pytest.mark.parametrize("wrong", [3, True, b"run.ccz"])
def test_checkpoint_must_be_a_path(blobs, wrong):
    with pytest.raises(ValueError, match="'checkpoint' parameter of CoreClustering must be"):
        fit(blobs, checkpoint=wrong)


def test_an_interrupt_in_the_middle_of_writing_loses_nothing(path, blobs, monkeypatch):
    write, calls = checkpoint.write_piece, []

    def interrupted(*args):
        calls.append(None)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return write(*args)

    monkeypatch.setattr(checkpoint, "write_piece", interrupted)
    with checkpoint_of(path, blobs) as kept:
        block = Block(np.zeros((5, len(blobs)), np.int8), [], [])
        kept.add(block)
        with pytest.raises(KeyboardInterrupt):
            kept.flush()
        kept.flush()
        kept.flush()
        assert kept.n_tried == 5
    assert len(pieces(path)) == 1
