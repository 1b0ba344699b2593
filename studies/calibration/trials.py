"""Runs one trial: a dataset of a design, its cores with every rule, and the true probabilities."""

from __future__ import annotations

import time
import warnings
import zlib
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coreclust import CoreClustering, core_clusters
from coreclust._utils.seeds import draw_random_states, seeds_of
from coreclust.cores import Core
from coreclust.resampling import Bootstrap, Subsample
from studies.calibration.designs import DESIGNS, Design
from studies.calibration.truth import find_truth
from studies.paper.cells import Results, versions

ALPHA = 0.1
CONFIDENCE = 0.95

#: The rules for a pair of core items, as parameters of CoreClustering.
RULES: dict[str, dict[str, Any]] = {
    "paper": {"confidence": None},
    "pair": {"confidence": CONFIDENCE, "guarantee": "pair"},
    "simultaneous": {"confidence": CONFIDENCE, "guarantee": "simultaneous"},
}
SCHEMES: dict[str, Bootstrap | Subsample] = {
    "bootstrap": Bootstrap(),
    "all": Bootstrap(label="all"),
    "subsample": Subsample(0.5),
}

#: Confidences of the rule for new data, and fractions of subsamples with their resamples.
NEW_DATA = (0.95, 0.9)
FRACTIONS = {0.2: 2000, 0.35: 2000, 0.5: 2000, 0.65: 2000, 0.8: 4000, 0.9: 25_000}
N_DRAWS = 10  # of the audit

_DATA, _CORES, _TRUTH = range(3)  # purposes of random numbers


@dataclass(frozen=True)
class Trial:
    """One dataset of a design.

    Attributes
    ----------
    design : str
        A name in :data:`~studies.calibration.designs.DESIGNS`.
    repetition : int
        Which dataset of the design.
    n_resamples : int
        Resamples for the cores.
    n_truth : int
        Resamples per pair for the truth.
    seed : int
    """

    design: str
    repetition: int
    n_resamples: int = 1000
    n_truth: int = 2000
    seed: int = 0

    @property
    def file_name(self) -> str:
        """Name of the file with the result."""
        sizes = f"m{self.n_resamples}-truth{self.n_truth}"
        return f"{self.design}-{self.repetition}-{sizes}-seed{self.seed}.json"

    def random_state(self, purpose: int) -> int:
        """Return a seed for a purpose, derived from the design, the repetition and the seed."""
        name = zlib.crc32(self.design.encode())
        return draw_random_states(seeds_of(self.seed, name, self.repetition, purpose), 1)[0]


def draw_data(trial: Trial) -> NDArray[np.float64]:
    """Return the dataset of a trial."""
    design = DESIGNS[trial.design]
    rng = np.random.default_rng(trial.random_state(_DATA))
    return design.mixture.draw(design.n_items, rng)


def cores_seed(trial: Trial) -> int:
    """Return the random state of the resamples of all schemes."""
    return trial.random_state(_CORES)


def schemes_of(design: Design) -> list[str]:
    """Return the schemes that the clustering function of a design allows."""
    if design.scheme == "subsample":
        return ["subsample"]
    return [name for name, scheme in SCHEMES.items() if design.can_predict or scheme.label != "all"]


def exact_pairs(design: Design) -> tuple[int | None, int]:
    """Return for how many pairs to run Algorithm 2, in the bands and outside."""
    return (10_000 // design.n_items if design.can_predict else None), 10


def all_cuts(cuts: dict[str, dict[str, list[int]]]) -> list[list[int]]:
    """Return the cores of all schemes and rules."""
    return [labels for by_rule in cuts.values() for labels in by_rule.values()]


def run_trial(trial: Trial) -> dict[str, Any]:
    """Find the cores of one dataset with every scheme and rule, and the truth.

    Returns
    -------
    result : dict
        Ready for JSON: the fields of the trial, `alpha`, `confidence`, `reference` (the
        cluster of each item), `cuts` (the core of each item, by scheme and rule), `oracle`
        (the core of each item, cut from the truth), `truth` (counts for the pairs of
        :func:`~studies.calibration.truth.cluster_pairs`), `audit` (the predicted share and its
        standard error), the return value of :func:`findings_of`, `optimal`, `seconds` and
        `versions`.
    """
    design = DESIGNS[trial.design]
    X = draw_data(trial)
    begin = time.perf_counter()
    cuts: dict[str, dict[str, list[int]]] = {}
    cores: list[Core] = []
    fits: dict[str, CoreClustering] = {}
    for name in schemes_of(design):
        fits[name] = _fit(trial, X, resampling=SCHEMES[name], n_resamples=trial.n_resamples)
        answers = {rule: fits[name].recut(**changes) for rule, changes in RULES.items()}
        cuts[name] = {rule: answer.labels_.tolist() for rule, answer in answers.items()}
        cores += [core for answer in answers.values() for core in answer.cores_]
    cuts["new-data"] = cut_for_new_data(trial, X)
    cuts.update(cut_subsamples(trial, X))
    # All schemes have the same reference, because they share the seed.
    main = fits[design.scheme].recut(**RULES["simultaneous"])
    reference = main.reference_labels_
    audit = main.audit(X, n_draws=N_DRAWS)
    max_exact, n_checks = exact_pairs(design)
    truth = find_truth(
        design,
        X,
        reference,
        n_resamples=trial.n_truth,
        cores=all_cuts(cuts),
        max_exact=max_exact,
        n_checks=n_checks,
        seed=trial.random_state(_TRUTH),
    )
    oracle = core_clusters(truth.evidence(reference), reference, alpha=ALPHA)
    labels = np.full(len(X), -1)
    for core in oracle:
        labels[core.core] = core.label
    return {
        **asdict(trial),
        "alpha": ALPHA,
        "confidence": CONFIDENCE,
        "reference": reference.tolist(),
        "cuts": cuts,
        "oracle": labels.tolist(),
        "truth": {
            "quick": None if truth.quick is None else truth.quick.tolist(),
            "exact_pairs": truth.exact_pairs.tolist(),
            "exact": truth.exact.tolist(),
        },
        "audit": [None if np.isnan(x) else x for x in (audit.share, audit.standard_error)],
        **findings_of(main, X),
        "optimal": all(core.optimal for core in [*cores, *oracle]),
        "seconds": time.perf_counter() - begin,
        "versions": versions(),
    }


def findings_of(fitted: CoreClustering, X: NDArray[np.float64]) -> dict[str, Any]:
    """Return the pairs of clusters not shown to be two, and the share of other solutions."""
    diagnosis = fitted.diagnose(X)
    return {
        "n_doubtful": int((~diagnosis.pairs["shown_two"]).sum()),
        "other_solutions": sum(mode.share for mode in diagnosis.modes if not mode.agrees),
    }


def is_flagged(result: dict[str, Any]) -> bool:
    """Tell whether the diagnosis of a dataset warns of its clusters."""
    return bool(result["n_doubtful"] > 0 or result["other_solutions"] > result["alpha"])


def cut_for_new_data(trial: Trial, X: NDArray[np.float64]) -> dict[str, list[int]]:
    """Return the cores under the guarantee for new data, by confidence."""
    design = DESIGNS[trial.design]
    scheme = SCHEMES["all" if design.can_predict else design.scheme]
    settings = {"guarantee": "new-data", "confidence": NEW_DATA[0]}
    cc = _fit(trial, X, resampling=scheme, n_resamples=trial.n_resamples, **settings)
    return {
        f"{confidence:g}": cc.recut(confidence=confidence).labels_.tolist()
        for confidence in NEW_DATA
    }


def cut_subsamples(trial: Trial, X: NDArray[np.float64]) -> dict[str, dict[str, list[int]]]:
    """Return the cores by the estimate from subsamples of several sizes, of small data."""
    design = DESIGNS[trial.design]
    if not design.can_predict or design.n_items > 100:
        return {}
    return {
        f"fraction {fraction:g}": {
            "paper": _fit(
                trial, X, resampling=Subsample(fraction, label="all"), n_resamples=n_resamples
            ).labels_.tolist()
        }
        for fraction, n_resamples in FRACTIONS.items()
    }


def _fit(trial: Trial, X: NDArray[np.float64], **settings: Any) -> CoreClustering:
    estimator = DESIGNS[trial.design].estimator()
    cc = CoreClustering(estimator, alpha=ALPHA, random_state=cores_seed(trial), **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of undecided items, which the study counts as weak
        return cc.fit(X)


def stored_trial(results: Results, trial: Trial) -> dict[str, Any] | None:
    """Return the stored result of a trial, or None if it is missing, incomplete or outdated."""
    result = results.get(trial)
    given = {**asdict(trial), "alpha": ALPHA, "confidence": CONFIDENCE}
    if not isinstance(result, dict) or not given.items() <= result.items():
        return None
    keys = ("reference", "cuts", "oracle", "truth", "audit", "n_doubtful", "other_solutions")
    return result if all(key in result for key in keys) else None
