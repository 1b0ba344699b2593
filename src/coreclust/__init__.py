"""Core clustering finds the parts of a clustering that are stable under resampling.

Names are imported on first use, so that ``import coreclust`` is fast.
"""

from __future__ import annotations

from coreclust._utils.lazy import lazy_names

TYPE_CHECKING = False  # as of typing, whose import takes longer than that of this package
if TYPE_CHECKING:
    from coreclust.clique import maximum_clique
    from coreclust.core_clustering import CoreClustering
    from coreclust.cores import Core, core_clusters
    from coreclust.evidence._ensemble import LabelEnsemble

__version__ = "0.1.0.dev0"

__all__ = [
    "Core",
    "CoreClustering",
    "LabelEnsemble",
    "__version__",
    "core_clusters",
    "maximum_clique",
]

__getattr__, _ = lazy_names(
    __name__,
    {
        "Core": "coreclust.cores",
        "CoreClustering": "coreclust.core_clustering",
        "LabelEnsemble": "coreclust.evidence._ensemble",
        "core_clusters": "coreclust.cores",
        "maximum_clique": "coreclust.clique",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
