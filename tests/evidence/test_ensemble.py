import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreclust import LabelEnsemble
from coreclust.evidence import cooccurrence_estimate
from twins import ABSENT, NOISE, counts, label_matrices


@given(labels=label_matrices(), noise=st.sampled_from(["apart", "together", "absent"]))
def test_matrix_scalars_and_arrays_agree(labels, noise):
    ensemble = LabelEnsemble(labels)
    n = ensemble.n_items
    together, seen = counts(labels, noise)
    expected = cooccurrence_estimate(together, seen, n)
    np.fill_diagonal(expected, 1)
    p, a, b = ensemble.cooccurrence_matrix(noise=noise, return_counts=True)
    np.testing.assert_array_equal(p, expected)
    np.testing.assert_array_equal(a, together)
    np.testing.assert_array_equal(b, seen)
    grid = np.arange(n)
    np.testing.assert_array_equal(
        ensemble.cooccurrence(grid[:, None], grid[None], noise=noise), expected
    )
    assert ensemble.cooccurrence(0, n - 1, noise=noise) == expected[0, n - 1]
    assert ensemble.cooccurrence_counts(0, -1, noise=noise) == (
        together[0, n - 1],
        seen[0, n - 1],
    )


def test_matrix_of_some_items():
    labels = np.random.default_rng(0).integers(-2, 3, size=(12, 40))
    ensemble = LabelEnsemble(labels)
    whole = ensemble.cooccurrence_matrix()
    items = [7, 2, 2, -1]
    some = ensemble.cooccurrence_matrix(items)
    np.testing.assert_array_equal(some, whole[np.ix_(items, items)])
    mask = np.arange(12) % 2 == 0
    np.testing.assert_array_equal(ensemble.cooccurrence_matrix(mask), whole[np.ix_(mask, mask)])
    assert ensemble.cooccurrence_matrix([]).shape == (0, 0)
    with pytest.raises(IndexError):
        ensemble.cooccurrence_matrix([12])


@pytest.mark.parametrize(
    ("highest", "dtype"), [(0, "int8"), (127, "int8"), (128, "int16"), (40_000, "int32")]
)
def test_the_smallest_integer_type(highest, dtype):
    labels = np.column_stack([np.arange(highest + 1), np.full(highest + 1, -2)])
    assert LabelEnsemble(labels).labels.dtype == dtype


def test_large_label_numbers_are_renumbered():
    ensemble = LabelEnsemble([[10**12, -2], [7, -1], [10**12, 10**9]])
    assert ensemble.labels.tolist() == [[1, -2], [0, -1], [1, 0]]


def test_labels_are_read_only_and_the_input_is_not_touched():
    labels = np.zeros((3, 4), dtype=np.int8, order="F")
    ensemble = LabelEnsemble(labels)
    with pytest.raises(ValueError, match="read-only"):
        ensemble.labels[0, 0] = 1
    labels[0, 0] = 1
    assert ensemble.labels[0, 0] == 0


def test_from_labels_of_all_kinds():
    def codes(labels, **kwargs):
        return LabelEnsemble.from_labels(labels, **kwargs).labels.tolist()

    assert codes([["x", "b"], ["a", None]]) == [[1, 0], [0, ABSENT]]
    assert codes([[1.0, np.nan], [7.0, 1.0]]) == [[0, ABSENT], [1, 0]]
    assert codes([[10**9, -1], [5, -2]]) == [[1, NOISE], [0, ABSENT]]
    assert codes([[-1, 1], [1, 1]], noise=None) == [[0, 0], [1, 0]]
    assert codes([[0, 1], [99, 1]], absent=99) == [[0, 0], [ABSENT, 0]]
    assert codes([[True, False], [True, True]]) == [[0, 0], [0, 1]]
    assert codes([["a", float("nan")], ["a", "b"]]) == [[0, ABSENT], [0, 0]]
    assert codes([["a", -1], ["b", "b"]]) == [[0, NOISE], [1, 0]]
    nullable = pd.DataFrame({"s0": [1, 2], "s1": [pd.NA, 3]}, dtype="Int64")
    assert codes(nullable) == [[0, ABSENT], [1, 0]]
    masked = np.ma.array([[3, 4], [3, 3]], mask=[[0, 1], [0, 0]])
    assert codes(masked) == [[0, ABSENT], [0, 0]]


@given(labels=label_matrices())
def test_from_labels_keeps_co_occurrence(labels):
    spread = np.where(labels >= 0, labels * 1000 + 7, labels)
    one, two = LabelEnsemble(labels), LabelEnsemble.from_labels(spread)
    np.testing.assert_array_equal(one.cooccurrence_matrix(), two.cooccurrence_matrix())
    assert two.labels.dtype == np.int8


@given(labels=label_matrices(max_samples=8), split=st.integers(1, 7))
def test_merging_equals_having_both(labels, split):
    split = min(split, labels.shape[1] - 1)
    if split == 0:
        return
    left, right = LabelEnsemble(labels[:, :split]), LabelEnsemble(labels[:, split:])
    assert left.merge(right) == LabelEnsemble(labels)


def test_merging_refuses_other_items():
    one, two = LabelEnsemble([[0], [1]]), LabelEnsemble([[0], [1], [1]])
    with pytest.raises(ValueError, match="other must hold the same items: it has 3"):
        one.merge(two)
    with pytest.raises(TypeError, match="other must be a LabelEnsemble"):
        one.merge([[0], [1]])


@given(labels=label_matrices())
def test_save_and_load(labels, tmp_path_factory):
    path = tmp_path_factory.mktemp("ensemble") / "run.npz"
    ensemble = LabelEnsemble(labels)
    ensemble.save(path)
    again = LabelEnsemble.load(path)
    assert again == ensemble
    assert again.labels.dtype == ensemble.labels.dtype
    assert [entry.name for entry in path.parent.iterdir()] == ["run.npz"]


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    LabelEnsemble([[0], [1]]).save(path)
    before = path.read_bytes()

    def break_off(file, **arrays):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", break_off)
    with pytest.raises(OSError, match="disk full"):
        LabelEnsemble([[0, 0], [1, 1]]).save(path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_load_refuses_what_is_not_an_ensemble(tmp_path):
    path = tmp_path / "run.npz"
    for content in (b"", b"not a zip file", b"PK\x03\x04 truncated"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="is not a LabelEnsemble file"):
            LabelEnsemble.load(path)
    with path.open("wb") as file:
        np.save(file, np.zeros((2, 2), int))
    with pytest.raises(ValueError, match="is not a LabelEnsemble file"):
        LabelEnsemble.load(path)
    np.savez(path, labels=np.zeros((2, 2), int))
    with pytest.raises(ValueError, match="is not a LabelEnsemble file"):
        LabelEnsemble.load(path)
    header = np.array(json.dumps({"format": "coreclust.LabelEnsemble", "version": 99}))
    np.savez(path, labels=np.zeros((2, 2), int), header=header)
    with pytest.raises(ValueError, match="version 99"):
        LabelEnsemble.load(path)
    with pytest.raises(FileNotFoundError):
        LabelEnsemble.load(tmp_path / "missing.npz")


def test_load_executes_nothing(tmp_path):
    path = tmp_path / "run.npz"
    np.savez(path, labels=np.array([[print]], dtype=object), header=np.array("{}"))
    assert "labels.npy" in zipfile.ZipFile(path).namelist()
    with pytest.raises(ValueError, match="is not a LabelEnsemble file"):
        LabelEnsemble.load(path)


def test_bad_labels():
    with pytest.raises(ValueError, match="labels must be a matrix"):
        LabelEnsemble([0, 1])
    with pytest.raises(ValueError, match="labels must be a matrix"):
        LabelEnsemble.from_labels(np.empty((0, 3)))
    with pytest.raises(TypeError, match="labels must hold integers, got dtype float64"):
        LabelEnsemble([[0.5, 1.0]])
    with pytest.raises(TypeError, match="labels must be integers or strings, got dtype float64"):
        LabelEnsemble.from_labels([[0.5, 1.0]])
    with pytest.raises(TypeError, match="a mix of integers and strings"):
        LabelEnsemble.from_labels([["a", 7]])
    with pytest.raises(ValueError, match="found -3"):
        LabelEnsemble([[-3, 1]])
    with pytest.raises(ValueError, match="noise must be one of"):
        LabelEnsemble([[0], [1]]).cooccurrence(0, 1, noise="loud")


def test_the_share_of_labels_that_are_present():
    labels = np.array([[0, -2, 1, -1], [-2, -2, 0, 0]])
    assert LabelEnsemble(labels).pair_share == (5 / 8) ** 2


def test_labels_too_large_for_a_whole_number_are_refused():
    with pytest.raises(ValueError, match="finite and below"):
        LabelEnsemble.from_labels(np.array([[1e19], [2e19], [0]]))


def test_no_pairs_have_no_counts():
    ensemble = LabelEnsemble.from_labels([[0, 0, 1], [0, 0, 0]])
    assert ensemble.cooccurrence([], []).shape == (0,)
