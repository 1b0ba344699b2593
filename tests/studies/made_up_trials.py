"""Made-up results of trials, with the right shape."""

from dataclasses import asdict

import numpy as np

from studies.calibration.designs import DESIGNS
from studies.calibration.trials import NEW_DATA, RULES, schemes_of
from studies.calibration.truth import cluster_pairs


def made_up(trial, *, least=0.95, exact_pairs=None, n_items=24):
    """A result of random cores, whose pairs have random probabilities from `least` on."""
    rng = np.random.default_rng([trial.repetition, len(trial.design)])
    design = DESIGNS[trial.design]
    reference = np.arange(n_items) % design.n_clusters
    n_pairs = len(cluster_pairs(reference))
    m = trial.n_truth
    chosen = np.arange(n_pairs) if exact_pairs is None else np.sort(exact_pairs)
    quick = rng.integers(int(least * m), m + 1, n_pairs)

    def cores(weak):
        return np.where(rng.random(n_items) < weak, -1, reference).tolist()

    return {
        **asdict(trial),
        "alpha": 0.1,
        "confidence": 0.95,
        "reference": reference.tolist(),
        "cuts": {
            **{name: {rule: cores(0.3) for rule in RULES} for name in schemes_of(design)},
            "new-data": {f"{confidence:g}": cores(0.4) for confidence in NEW_DATA},
        },
        "oracle": cores(0.1),
        "truth": {
            "quick": quick.tolist() if design.can_predict else None,
            "exact_pairs": chosen.tolist(),
            "exact": rng.integers(int(least * m), m + 1, len(chosen)).tolist(),
        },
        "audit": [float(rng.uniform(0.9, 1.0)), 0.01],
        "n_doubtful": int(rng.integers(0, 2)),
        "other_solutions": float(rng.choice([0.0, 0.3], p=[0.8, 0.2])),
        "optimal": True,
        "seconds": 0.5,
        "versions": {"python": "3.11"},
    }
