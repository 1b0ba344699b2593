"""Label ensembles, pair counts, and the rules that decide which pairs belong together."""

from typing import TYPE_CHECKING

from coreclust._utils.lazy import lazy_names

if TYPE_CHECKING:
    from coreclust.evidence._bounds import cooccurrence_estimate
    from coreclust.evidence._ensemble import LabelEnsemble
    from coreclust.evidence._guarantees import GUARANTEES, Guarantee
    from coreclust.evidence._pair_evidence import PairEvidence
    from coreclust.evidence._pair_test import PairTest, pair_test
    from coreclust.evidence._rule import CoreRule

__all__ = [
    "GUARANTEES",
    "CoreRule",
    "Guarantee",
    "LabelEnsemble",
    "PairEvidence",
    "PairTest",
    "cooccurrence_estimate",
    "pair_test",
]

# Imported on first use, so that the command line can read GUARANTEES without importing numba.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "GUARANTEES": "coreclust.evidence._guarantees",
        "CoreRule": "coreclust.evidence._rule",
        "Guarantee": "coreclust.evidence._guarantees",
        "LabelEnsemble": "coreclust.evidence._ensemble",
        "PairEvidence": "coreclust.evidence._pair_evidence",
        "PairTest": "coreclust.evidence._pair_test",
        "cooccurrence_estimate": "coreclust.evidence._bounds",
        "pair_test": "coreclust.evidence._pair_test",
    },
)
