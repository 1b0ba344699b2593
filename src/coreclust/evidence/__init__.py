"""Label ensembles, pair counts, and the rules that decide which pairs belong together."""

from typing import TYPE_CHECKING

from coreclust._utils.lazy import lazy_names

if TYPE_CHECKING:
    from coreclust.evidence._bounds import (
        PairTest,
        apart_table,
        confidence_table,
        cooccurrence_estimate,
        least_seen,
        pair_test,
        sequence_evidence,
        sequence_tables,
    )
    from coreclust.evidence._ensemble import LabelEnsemble
    from coreclust.evidence._pair_evidence import PairEvidence

__all__ = [
    "LabelEnsemble",
    "PairEvidence",
    "PairTest",
    "apart_table",
    "confidence_table",
    "cooccurrence_estimate",
    "least_seen",
    "pair_test",
    "sequence_evidence",
    "sequence_tables",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {name: "coreclust.evidence._bounds" for name in __all__}
    | {
        "LabelEnsemble": "coreclust.evidence._ensemble",
        "PairEvidence": "coreclust.evidence._pair_evidence",
    },
)
