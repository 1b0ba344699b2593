"""Describes the result of a fitted estimator in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coreclust._inspection.diagnosis import Diagnosis, quick_diagnosis
from coreclust._utils.text import percent, shorten
from coreclust.evidence._pair_evidence import PairEvidence

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering
    from coreclust.cores import Core

_LIMITS = {"time_limit": "time", "max_memory": "memory"}
_LEAST_SHAKY = 0.05  # clusters with a smaller share of weak items are not mentioned


def headline(fitted: CoreClustering, cores: list[Core] | None = None) -> str:
    """Return the number of clusters, the share of weak items and the least stable cluster.

    The cores are the fitted ones, or those given, such as those at another alpha.
    """
    cores = fitted.cores_ if cores is None else cores
    if not cores:
        return f"no clusters; all {fitted.labels_.size:,} items are trimmed"
    parts = [_count(len(cores), "cluster")]
    weak, trimmed = sum(core.n_weak for core in cores), fitted.trimmed_sample_indices_.size
    if not weak and not trimmed:
        parts.append("every item is core")
    if weak:
        parts.append(f"{percent(weak / fitted.labels_.size)} of items are weak")
    if trimmed:
        of_items = "" if weak else " of items"
        parts.append(f"{percent(trimmed / fitted.labels_.size)}{of_items} are trimmed")
    shaky = _shakiest(cores)
    if shaky is not None:
        parts.append(f"cluster {cluster_name(fitted, shaky)} is the least stable")
    return "; ".join(parts)


def verdict(fitted: CoreClustering, diagnosis: Diagnosis | None = None) -> str:
    """Return the result as a paragraph of a few sentences.

    It includes the findings of a diagnosis, by default of one that needs no data.
    """
    first = headline(fitted)
    diagnosis = quick_diagnosis(fitted) if diagnosis is None else diagnosis
    return f"{first[0].upper()}{first[1:]}. {explanation(fitted, diagnosis)}".rstrip()


def explanation(fitted: CoreClustering, diagnosis: Diagnosis | None = None) -> str:
    """Return the verdict without its first sentence, which is the headline."""
    undecided = fitted.undecided_sample_indices_.size
    sentences = _about_cores(fitted, fitted.cores_, fitted.alpha, undecided)
    if diagnosis is not None:
        sentences += diagnosis.sentences
    if fitted.n_dropped_resamples_:
        n_dropped = fitted.n_dropped_resamples_
        were = "was" if n_dropped == 1 else "were"
        sentences.append(
            f"{_count(n_dropped, 'resample')} that could not be clustered {were} left out."
        )
    return " ".join(sentence for sentence in sentences if sentence)


def explanation_at(fitted: CoreClustering, cores: list[Core], alpha: float) -> str:
    """Return what the explanation says about the cores at another alpha."""
    sentences = _about_cores(fitted, cores, alpha, 0)
    return " ".join(sentence for sentence in sentences if sentence)


def _about_cores(
    fitted: CoreClustering, cores: list[Core], alpha: float, n_undecided: int
) -> list[str]:
    if not cores:
        return []
    promise = fitted.rule_.changed(alpha=alpha).promise(f" in {_drawn(fitted)}")
    return [
        _counts(fitted, cores, n_undecided),
        _worst(fitted, cores),
        promise,
        _proof(cores),
    ]


def cluster_name(fitted: CoreClustering, core: Core) -> str:
    """Return the name of a cluster, on one line and shortened if it is long."""
    return shorten(fitted.cluster_names_[core.label])


def _shakiest(cores: list[Core]) -> Core | None:
    """Return the cluster with the largest share of weak items; None if there is no clear one."""
    if len(cores) < 2:
        return None
    first, second = sorted(cores, key=lambda core: core.weak_fraction, reverse=True)[:2]
    is_shaky = first.weak_fraction > second.weak_fraction and first.weak_fraction >= _LEAST_SHAKY
    return first if is_shaky else None


def _counts(fitted: CoreClustering, cores: list[Core], undecided: int) -> str:
    weak, trimmed = sum(core.n_weak for core in cores), fitted.trimmed_sample_indices_.size
    if not weak and not trimmed:
        return ""
    n_items = fitted.labels_.size
    n_core = sum(core.n_core for core in cores)
    text = f"{n_core:,} of {_count(n_items, 'item')} are core"
    text += f", {weak:,} weak" if weak else ", none is weak"
    text += f" and {trimmed:,} trimmed (in no cluster)." if trimmed else "."
    if undecided:
        of_weak = "All" if undecided == weak else f"{undecided:,}"
        text += f" {of_weak} of the weak items are undecided: too few resamples contain them and "
        text += "their core."
    return text


def _drawn(fitted: CoreClustering) -> str:
    """Return what the probabilities are about."""
    if isinstance(fitted.ensemble_, PairEvidence):
        return "data from the known distribution"
    return "resamples of these data"


def _worst(fitted: CoreClustering, cores: list[Core]) -> str:
    shaky = _shakiest(cores)
    if shaky is None:
        return ""
    name = cluster_name(fitted, shaky)
    return f"Of the {shaky.n_items:,} items of cluster {name}, {shaky.n_weak:,} are weak."


def _proof(cores: list[Core]) -> str:
    unproven = sum(not core.optimal for core in cores)
    if not unproven:
        return "The cores are proven to be the largest possible."
    limits = {core.limited_by for core in cores if core.limited_by}
    given = " and ".join(_LIMITS[name] for name in _LIMITS if name in limits)
    return (
        f"{unproven} of {_count(len(cores), 'core')} could not be proven to be the largest "
        f"possible in the {given} given."
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
