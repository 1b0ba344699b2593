"""Measure how often the number of clusters is found, on data with a known number.

Run from the repository root::

    python -m benchmarks.selection                         # ten datasets per design
    python -m benchmarks.selection --designs three-300 uniform-150
    python -m benchmarks.selection --quick                 # two designs, one small dataset each

Every dataset is drawn from its design with a seed, and `select_n_clusters` is run with its defaults
(k from 2 to 10). ``-`` means no recommendation although there is some structure.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from coreclust.model_selection import select_n_clusters

Points = NDArray[np.float64]
Draw = Callable[[np.random.Generator], Points]


def triangle(n: int, separation: float, rng: np.random.Generator, d: int = 2) -> Points:
    """Draw from three Gaussians of unit variance with centers at equal distances."""
    angles = np.pi / 2 + np.arange(3) * 2 * np.pi / 3
    centers = np.zeros((3, d))
    centers[:, :2] = np.column_stack([np.cos(angles), np.sin(angles)]) * separation / np.sqrt(3)
    return centers[rng.integers(3, size=n)] + rng.standard_normal((n, d))


def line(
    n: int, k: int, separation: float, rng: np.random.Generator, d: int = 2, first: float = 0.0
) -> Points:
    """Draw from k Gaussians in a row; `first` is the share of the first one, if not 0."""
    shares = np.full(k, 1 / k) if not first else np.r_[first, np.full(k - 1, (1 - first) / (k - 1))]
    centers = np.zeros((k, d))
    centers[:, 0] = separation * np.arange(k)
    return centers[rng.choice(k, size=n, p=shares)] + rng.standard_normal((n, d))


def scattered(n: int, k: int, separation: float, rng: np.random.Generator, d: int) -> Points:
    """Draw from k Gaussians with random centers, at least `separation` apart."""
    while True:
        centers = rng.uniform(-1, 1, size=(k, d)) * separation * (2.0 if d == 2 else 1.2)
        distances = np.linalg.norm(centers[:, None] - centers, axis=-1)[np.triu_indices(k, 1)]
        if distances.min() >= separation:
            return centers[rng.integers(k, size=n)] + rng.standard_normal((n, d))


#: The true number of clusters and the function that draws the data, by name.
DESIGNS: dict[str, tuple[int, Draw]] = {
    "three-150": (3, lambda rng: triangle(150, 3, rng)),
    "three-300": (3, lambda rng: triangle(300, 3, rng)),
    "three-10d": (3, lambda rng: triangle(200, 4, rng, d=10)),
    "three-row": (3, lambda rng: line(200, 3, 4, rng)),
    "two": (2, lambda rng: line(200, 2, 4, rng)),
    "two-near": (2, lambda rng: line(200, 2, 3, rng)),
    "two-10d": (2, lambda rng: line(200, 2, 4, rng, d=10)),
    "two-unequal": (2, lambda rng: line(200, 2, 5, rng, first=0.85)),
    "five": (5, lambda rng: scattered(250, 5, 5, rng, d=2)),
    "five-10d": (5, lambda rng: scattered(250, 5, 5, rng, d=10)),
    "uniform-150": (1, lambda rng: rng.random((150, 2))),
    "uniform-300": (1, lambda rng: rng.random((300, 2))),
    "uniform-10d": (1, lambda rng: rng.random((200, 10))),
    "rectangle": (1, lambda rng: rng.random((200, 2)) * [4.0, 1.0]),
    "gaussian": (1, lambda rng: rng.standard_normal((200, 2))),
    "gaussian-10d": (1, lambda rng: rng.standard_normal((200, 10))),
}


def main() -> None:
    """Run the designs and print one line per design."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--designs", nargs="+", choices=DESIGNS, default=list(DESIGNS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    names, seeds = (
        arguments.designs,
        range(arguments.first_seed, arguments.first_seed + arguments.seeds),
    )
    if arguments.quick:
        names, seeds = ["three-150", "uniform-150"], range(1)
    print(f"{'design':14}{'true':>5}{'found':>9}   answers")
    for name in names:
        true, draw = DESIGNS[name]
        answers = []
        for seed in seeds:
            # The position of the design gives each design its own random stream.
            rng = np.random.default_rng([seed, list(DESIGNS).index(name)])
            options = {"k_range": range(2, 5), "n_nulls": 5} if arguments.quick else {}
            answers.append(
                select_n_clusters(None, draw(rng), random_state=seed, **options).n_clusters
            )
        right = sum(answer == true or (true == 1 and answer is None) for answer in answers)
        counts = Counter("-" if answer is None else str(answer) for answer in answers)
        shown = ", ".join(f"{answer}: {count}" for answer, count in sorted(counts.items()))
        print(f"{name:14}{true:5}{right:6}/{len(answers)}   {shown}", flush=True)


if __name__ == "__main__":
    main()
