import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from coreclust._checkpoint.pieces import read_piece, write_piece
from coreclust.evidence._labeling import Block


@st.composite
def block_lists(draw):
    """Blocks of resamples of the same items, in types of several sizes, some of them failed."""
    n_items = draw(st.integers(1, 5))
    with_models = draw(st.booleans())
    first = resample = draw(st.integers(0, 10**6))
    blocks = []
    for _ in range(draw(st.integers(1, 3))):
        failed = draw(st.lists(st.booleans(), min_size=1, max_size=4))
        errors = [(resample + place, draw(st.text())) for place, lost in enumerate(failed) if lost]
        n_labeled = failed.count(False)
        dtype = draw(st.sampled_from([np.int8, np.int16, np.int32]))
        labels = draw(npst.arrays(dtype, (n_labeled, n_items)))
        centers = np.arange(6.0).reshape(2, 3) + resample
        models = [centers + place for place in range(n_labeled * with_models)]
        blocks.append(Block(labels, errors, models))
        resample += len(failed)
    return first, n_items, blocks


@given(block_lists())
def test_a_piece_is_what_was_written(tmp_path_factory, written):
    first, n_items, blocks = written
    path = tmp_path_factory.mktemp("piece") / "piece.ccp"
    write_piece(path, "me", first, blocks, n_items)
    piece = read_piece(path, "me", first, n_items)
    labels = np.concatenate([block.labels for block in blocks])  # the widest type
    assert piece.dtype == labels.dtype
    np.testing.assert_array_equal(piece.labels(), labels)
    failed = [failure for block in blocks for failure in block.failed]
    assert piece.failed == failed
    assert piece.end == first + len(labels) + len(failed)
    models = [model for block in blocks for model in block.models]
    for found, model in zip(piece.models(), models, strict=True):
        np.testing.assert_array_equal(found, model)
    lost = {resample for resample, _ in failed}
    for resample in range(first - 1, piece.end + 2):
        before = [b for b in range(first, min(resample, piece.end)) if b not in lost]
        assert piece.n_labeled_before(resample) == len(before)


@given(block_lists(), st.data())
def test_any_damage_is_noticed(tmp_path_factory, written, data):
    first, n_items, blocks = written
    path = tmp_path_factory.mktemp("piece") / "piece.ccp"
    write_piece(path, "me", first, blocks, n_items)
    content = path.read_bytes()
    place = data.draw(st.integers(0, len(content) - 1))
    damaged = bytearray(content)
    damaged[place] ^= data.draw(st.integers(1, 255))
    for bad in (bytes(damaged), content[:place], content + content[place:]):
        path.write_bytes(bad)
        assert read_piece(path, "me", first, n_items) is None


def test_a_piece_of_another_place_or_owner_is_not_taken(tmp_path):
    path = tmp_path / "piece.ccp"
    write_piece(path, "me", 3, [Block(np.zeros((2, 5), np.int8), [], [])], 5)
    assert read_piece(path, "me", 3, 5) is not None
    assert read_piece(path, "you", 3, 5) is None
    assert read_piece(path, "me", 2, 5) is None
    assert read_piece(path, "me", 3, 6) is None
