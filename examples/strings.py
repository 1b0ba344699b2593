"""Strings: misspelled names that are reliably the same name.

Sixty typed names are clustered by their edit distance. There are no coordinates: the rows and
columns of the distance matrix are resampled. A core is a set of spellings that can be merged; a
weak spelling should be checked by a person.

Run it with ``python examples/strings.py``; it takes a few seconds.
"""

import matplotlib.pyplot as plt
import numpy as np

from coreclust import CoreClustering
from coreclust.cluster import HierarchicalClustering
from coreclust.plotting import CooccurrenceDisplay

NAMES = ["margaret", "marietta", "frederik", "federico"]
LETTERS = list("abcdefghijklmnopqrstuvwxyz")


def mistype(name, n_slips, rng):
    """Return a name with some letters replaced, deleted or doubled."""
    letters = list(name)
    for _ in range(n_slips):
        place = rng.integers(len(letters))
        slip = rng.integers(3)
        if slip == 0:
            letters[place] = rng.choice(LETTERS)
        elif slip == 1 and len(letters) > 3:
            del letters[place]
        else:
            letters.insert(place, letters[place])
    return "".join(letters)


def edit_distance(a, b):
    """Return the number of insertions, deletions and replacements that turn a into b."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (letter != other))
    return row[-1]


def main():
    """Make the spellings, compute all distances and find the cores."""
    rng = np.random.default_rng(3)
    spellings = [
        mistype(name, n_slips, rng) for name in NAMES for n_slips in [0] * 5 + [1] * 6 + [3] * 4
    ]
    distances = np.array([[edit_distance(a, b) for b in spellings] for a in spellings], dtype=float)

    linkage = HierarchicalClustering(4, metric="precomputed", linkage="average")
    cc = CoreClustering(linkage, alpha=0.1, n_resamples=500, random_state=0).fit(distances)

    for core in cc.cores_:
        kept = sorted({spellings[item] for item in core.core})
        doubtful = sorted({spellings[item] for item in core.weak})
        print(f"core of {core.n_core}: {', '.join(kept)}")
        print(f"  to look at: {', '.join(doubtful) or 'none'}")

    figure, ax = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
    CooccurrenceDisplay.from_estimator(cc, ax=ax)
    figure.savefig("strings.png", dpi=80)


if __name__ == "__main__":
    main()
