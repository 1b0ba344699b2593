"""The answer in words, for the terminal, the notebook and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coreclust.answers import CoreAnswers
    from coreclust.cores import Core

_LONGEST_NAME = 40
_LIMITS = {"time_limit": "time", "max_memory": "memory"}
_LEAST_SHAKY = 0.05  # of the items of a cluster are weak


def headline(fitted: CoreAnswers) -> str:
    """Say in one line how many clusters there are, and what is shaky.

    Parameters
    ----------
    fitted : CoreClustering
        Fitted.

    Returns
    -------
    text : str

    Examples
    --------
    >>> from coreclust import CoreClustering
    >>> from coreclust._inspection.verdict import headline
    >>> cc = CoreClustering(lambda Z: [int(z > 9) for z in Z], n_resamples=50, random_state=0)
    >>> headline(cc.fit([1, 2, 3, 10, 11]))
    '2 clusters; every item is core'
    """
    if not fitted.cores_:
        return f"no clusters; all {fitted.labels_.size:,} items are trimmed"
    parts = [_count(len(fitted.cores_), "cluster")]
    weak, trimmed = fitted.weak_sample_indices_.size, fitted.trimmed_sample_indices_.size
    if not weak and not trimmed:
        parts.append("every item is core")
    if weak:
        parts.append(f"{percent(weak / fitted.labels_.size)} of items are weak")
    if trimmed:
        of_items = "" if weak else " of items"
        parts.append(f"{percent(trimmed / fitted.labels_.size)}{of_items} are trimmed")
    shaky = _shakiest(fitted.cores_)
    if shaky is not None:
        parts.append(f"cluster {cluster_name(fitted, shaky)} is the shaky one")
    return "; ".join(parts)


def verdict(fitted: CoreAnswers) -> str:
    """Say which part of a clustering can be trusted, and how far.

    Parameters
    ----------
    fitted : CoreClustering
        Fitted.

    Returns
    -------
    text : str
        A few sentences in one paragraph.

    Examples
    --------
    >>> from coreclust import CoreClustering
    >>> from coreclust._inspection.verdict import verdict
    >>> cc = CoreClustering(lambda Z: [int(z > 9) for z in Z], n_resamples=50, random_state=0)
    >>> print(verdict(cc.fit([1, 2, 3, 10, 11])))
    2 clusters; every item is core. Any two items of one core land together with an estimated
    probability of at least 0.9. The cores are proven to be the largest possible.
    """
    first = headline(fitted)
    return f"{first[0].upper()}{first[1:]}. {explanation(fitted)}".rstrip()


def explanation(fitted: CoreAnswers) -> str:
    """Say what stands behind the headline: the verdict without its first sentence.

    Parameters
    ----------
    fitted : CoreClustering
        Fitted.

    Returns
    -------
    text : str
    """
    sentences: list[str] = []
    if fitted.cores_:
        sentences = [_counts(fitted), _worst(fitted), _promise(fitted), _proof(fitted.cores_)]
    if fitted.n_dropped_resamples_:
        n_dropped = fitted.n_dropped_resamples_
        were = "was" if n_dropped == 1 else "were"
        sentences.append(
            f"{_count(n_dropped, 'sample')} that could not be clustered {were} left out."
        )
    return " ".join(sentence for sentence in sentences if sentence)


def cluster_name(fitted: CoreAnswers, core: Core) -> str:
    """Return the name of a cluster, on one line and not too long."""
    return shorten(fitted.cluster_names_[core.label])


def shorten(value: Any, longest: int = _LONGEST_NAME) -> str:
    """Return a value as text on one line, without its middle if it is too long.

    Parameters
    ----------
    value : object
    longest : int, default=40

    Returns
    -------
    text : str

    Examples
    --------
    >>> from coreclust._inspection.verdict import shorten
    >>> shorten("the name of item 12", 10)
    'the n…m 12'
    """
    text = str(value)
    if len(text) > longest:  # names often differ at their ends
        tail = (longest - 1) // 2
        text = text[: longest - 1 - tail] + "…" + text[len(text) - tail :]
    return "".join(letter if letter.isprintable() else " " for letter in text)


def percent(share: float) -> str:
    """Return a share in percent; neither 0 nor 100 unless it is exactly that.

    Examples
    --------
    >>> from coreclust._inspection.verdict import percent
    >>> percent(0.18), percent(0.001), percent(0.995), percent(1.0)
    ('18 %', 'less than 1 %', 'more than 99 %', '100 %')
    """
    if 0 < share < 0.01:
        return "less than 1 %"
    if 0.99 < share < 1:
        return "more than 99 %"
    return f"{100 * share:.0f} %"


def _shakiest(cores: list[Core]) -> Core | None:
    """Return the one cluster with the largest share of weak items, if that is worth a word."""
    if len(cores) < 2:
        return None
    first, second = sorted(cores, key=_weak_share, reverse=True)[:2]
    is_shaky = _weak_share(first) > _weak_share(second) and _weak_share(first) >= _LEAST_SHAKY
    return first if is_shaky else None


def _weak_share(core: Core) -> float:
    return 1 - core.core.size / core.size


def _counts(fitted: CoreAnswers) -> str:
    weak, trimmed = fitted.weak_sample_indices_.size, fitted.trimmed_sample_indices_.size
    if not weak and not trimmed:
        return ""
    n_items = fitted.labels_.size
    text = f"{fitted.core_sample_indices_.size:,} of {_count(n_items, 'item')} are core"
    text += f", {weak:,} weak" if weak else ", none is weak"
    return text + (f" and {trimmed:,} trimmed: put in no cluster." if trimmed else ".")


def _worst(fitted: CoreAnswers) -> str:
    shaky = _shakiest(fitted.cores_)
    if shaky is None:
        return ""
    name = cluster_name(fitted, shaky)
    return f"Of the {shaky.size:,} items of cluster {name}, {shaky.weak.size:,} are weak."


def _promise(fitted: CoreAnswers) -> str:
    least = f"{1 - fitted.alpha:g}"
    if fitted.confidence is None:
        return (
            f"Any two items of one core land together with an estimated probability of at "
            f"least {least}."
        )
    sure = f"{100 * fitted.confidence:g} % confidence"
    if fitted.guarantee == "pair":
        return (
            f"Any two items of one core, taken by themselves, land together with a probability "
            f"of at least {least}, with {sure}."
        )
    return (
        f"With {sure}, every two items of one core land together with a probability of at "
        f"least {least}."
    )


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
