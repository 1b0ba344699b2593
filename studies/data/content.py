"""Describes the content of the paper's datasets, and verifies it by checksums."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

Arrays = tuple[NDArray[np.float64], NDArray[Any]]  # the features, the classes


@dataclass(frozen=True)
class Content:
    """The content that a dataset must have, independent of its source.

    Parameters
    ----------
    name, title : str
        The short name and the full name.
    features : tuple of str
        The names of the features, in order.
    classes : tuple of str or of int
        The classes.
    checksum : str, default=""
        The :func:`checksum` of the rows.
    aliases : mapping of str to str or int, default={}
        Other spellings of the classes, as :func:`plain` returns them.
    openml : int or None, default=None
        The id at OpenML, which identifies one version of one dataset.
    """

    name: str
    title: str
    features: tuple[str, ...]
    classes: tuple[str, ...] | tuple[int, ...]
    checksum: str = ""
    aliases: Mapping[str, str | int] = field(default_factory=dict)
    openml: int | None = None

    def class_of(self, spelling: object) -> str | int:
        """Return the class of a spelling, or raise KeyError."""
        spellings = {plain(name): name for name in self.classes} | dict(self.aliases)
        return spellings[plain(spelling)]


def plain(spelling: object) -> str:
    """Return a name without what sources add: bytes, quotes, a full stop, capitals.

    Examples
    --------
    >>> from studies.data.content import plain
    >>> plain(b"neptune."), plain(" 'Build wind float'")
    ('neptune', 'build wind float')
    """
    text = spelling.decode() if isinstance(spelling, bytes) else str(spelling)
    return text.strip(" '\"").rstrip(".").lower()


def checksum(data: NDArray[np.float64], target: NDArray[Any]) -> str:
    """Return the SHA-256 of the sorted rows, with values of 12 significant digits.

    Examples
    --------
    >>> import numpy as np
    >>> from studies.data.content import checksum
    >>> data, target = np.array([[0.1, 2.0], [0.3, 4.0]]), np.array(["a", "b"])
    >>> checksum(data, target) == checksum(data[::-1], target[::-1])
    True
    >>> checksum(data, target) == checksum(data, target[::-1])
    False
    """
    rows = [
        # Adding 0 turns -0 into 0.
        ",".join([*(f"{value + 0.0:.12g}" for value in row), str(name)])
        for row, name in zip(data.tolist(), target.tolist(), strict=True)
    ]
    return hashlib.sha256("\n".join(sorted(rows)).encode()).hexdigest()


def verify(content: Content, arrays: Arrays, source: object, advice: str) -> Arrays:
    """Return the arrays, or raise if they are not those of the paper."""
    found = checksum(*arrays)
    if found != content.checksum:
        raise ValueError(
            f"The dataset {content.name!r} from {source} is not the one of the paper "
            f"(the SHA-256 of its sorted rows begins with {found[:8]}, not with "
            f"{content.checksum[:8]}): {advice}."
        )
    return arrays


def name_classes(content: Content, spellings: Iterable[object], source: object) -> NDArray[Any]:
    """Return the classes of the items with their names in the paper's files."""
    spellings = list(spellings)
    try:
        classes = {spelling: content.class_of(spelling) for spelling in dict.fromkeys(spellings)}
    except KeyError as error:
        raise ValueError(
            f"The dataset {content.name!r} from {source} has a class {error.args[0]!r}, but its "
            f"classes must be {', '.join(map(str, content.classes))}, in the last column."
        ) from None
    return np.array([classes[spelling] for spelling in spellings])


def as_bunch(
    content: Content, data: NDArray[np.float64], target: NDArray[Any], *, source: object
) -> Bunch:
    """Return a dataset in the form of scikit-learn's own datasets."""
    return Bunch(
        data=data,
        target=target,
        feature_names=list(content.features),
        target_names=np.unique(content.classes),
        DESCR=f"{content.title}: {data.shape[0]} items, {data.shape[1]} features, "
        f"{len(content.classes)} classes; {source}.",
    )


SYNTHETIC = Content("synthetic", "Three normal distributions in the plane", ("x1", "x2"), (1, 2, 3))
IRIS = Content(
    name="iris",
    title="Iris",
    features=("sepal_length", "sepal_width", "petal_length", "petal_width"),
    classes=("setosa", "versicolor", "virginica"),
    checksum="dd7f963b2f122a72899144a808a8b23fcad98790f0bbd7711dc3ac0a8834881b",
)
WINE = Content(
    name="wine",
    title="Wine",
    features=(
        *("alcohol", "malic_acid", "ash", "alcalinity_of_ash", "magnesium", "total_phenols"),
        *("flavanoids", "nonflavanoid_phenols", "proanthocyanins", "color_intensity", "hue"),
        *("od280_od315_of_diluted_wines", "proline"),
    ),
    classes=(1, 2, 3),
    checksum="6e9b2f42fc39c0804aa71128574f5c824d916f506185ed2af5f9fa8a09169951",
)
GLASS = Content(
    name="glass",
    title="Glass Identification",
    features=("RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe"),
    classes=(1, 2, 3, 5, 6, 7),
    checksum="6d7353961c01f2d37fcbab64764a59c740880fb31ed8a1f8db866a72a7d72379",
    aliases={
        "build wind float": 1,
        "build wind non-float": 2,
        "vehic wind float": 3,
        "containers": 5,
        "tableware": 6,
        "headlamps": 7,
    },
    openml=41,
)
BCW = Content(
    name="bcw",
    title="Breast Cancer Wisconsin (Original), without its 16 rows with missing values",
    features=(
        *("clump_thickness", "cell_size_uniformity", "cell_shape_uniformity"),
        *("marginal_adhesion", "epithelial_cell_size", "bare_nuclei", "bland_chromatin"),
        *("normal_nucleoli", "mitoses"),
    ),
    classes=("benign", "malignant"),
    checksum="ffa3a9846bc3d4f836818777a0e46ee1f17cae9eee54b0876dd8aad836cba819",
    aliases={"2": "benign", "4": "malignant"},
    openml=15,
)
YEAST = Content(
    name="yeast",
    title="Yeast",
    features=("mcg", "gvh", "alm", "mit", "erl", "pox", "vac", "nuc"),
    classes=("CYT", "NUC", "MIT", "ME3", "ME2", "ME1", "EXC", "VAC", "POX", "ERL"),
    checksum="0d10ebf886f3b1748cac7627ee578b81c43fbebf3e28c9e767cfeab558ccfc99",
    openml=181,
)
KDD = Content(
    name="kdd",
    title="KDD Cup 1999, 10 percent file, three classes",
    features=("src_bytes", "count", "srv_count", "diff_srv_rate", "dst_host_same_src_port_rate"),
    classes=("neptune", "normal", "smurf"),
    checksum="ef65dca85be6200d13e8328c50439d8b28d5a1d4259dc76192284d18f0158e11",
)
