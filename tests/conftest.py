from __future__ import annotations

from pathlib import Path

import hypothesis
import numpy as np
import pytest
from numpy.typing import NDArray

hypothesis.settings.register_profile(
    "default",
    deadline=None,  # the first call compiles
    derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("default")

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture(scope="session")
def paper_data():
    """A loader of the paper's datasets, which are not part of the repository."""
    folder = SHARED / "data"
    if not folder.is_dir():
        pytest.skip("the folder with the paper's datasets is not here")

    def load(name: str) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
        table = np.genfromtxt(folder / f"{name}.csv", delimiter=",", dtype=str, skip_header=1)
        return table[:, :-1].astype(float), table[:, -1]

    return load


@pytest.fixture(scope="session")
def paper_tables():
    """The published weak fractions, by dataset and algorithm."""
    path = SHARED / "reference" / "paper_tables.csv"
    if not path.is_file():
        pytest.skip("the folder with the paper's tables is not here")
    rows = [line.split(",") for line in path.read_text().splitlines()]
    column = rows[0].index("paper_weak")
    return {(row[0], row[1]): float(row[column]) for row in rows[1:]}


@pytest.fixture(scope="session")
def blobs() -> NDArray[np.float64]:
    """Sixty items in three groups, two of which touch."""
    rng = np.random.default_rng(0)
    centers = np.repeat([[0.0, 0.0], [2.5, 0.0], [10.0, 10.0]], 20, axis=0)
    return centers + rng.normal(size=(60, 2))
