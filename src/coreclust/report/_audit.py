"""Collects what a report says about new data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from coreclust._inspection.audit import TOLERANCE, Audit
from coreclust._inspection.verdict import cluster_name
from coreclust.report._text import clean

if TYPE_CHECKING:
    from coreclust.core_clustering import CoreClustering


def check_audit(fitted: CoreClustering, audit: Any) -> None:
    """Raise if the audit is not one of the fitted cores."""
    if audit is None:
        return
    if not isinstance(audit, Audit):
        raise TypeError(
            f"audit must be what the audit method returns, got {type(audit).__name__}; pass "
            "audit=cc.audit(X)."
        )
    if audit.clusters["cluster"].tolist() != list(fitted.cluster_names_):
        raise ValueError("audit must be of the same clusters; call audit of this estimator.")
    alpha = audit.alphas["alpha"].iloc[-1]
    if not math.isclose(alpha, fitted.alpha, abs_tol=1e-11):
        raise ValueError(
            f"audit must be of alpha={fitted.alpha:g}, got one of alpha={alpha:g}; call audit of "
            "this estimator."
        )


def audit_rows(fitted: CoreClustering, audit: Audit | None) -> dict[str, Any] | None:
    """Return the predicted share of core pairs that hold, for each cluster and each alpha."""
    if audit is None:
        return None
    clusters = [
        {
            "code": core.label,
            "name": clean(cluster_name(fitted, core)),
            **_prediction(row["share"], row["standard_error"]),
        }
        for core, row in zip(fitted.cores_, audit.clusters.to_dict("records"), strict=True)
    ]
    alphas = [
        {
            "alpha": row["alpha"],
            "core_fraction": row["core_fraction"],
            **_prediction(row["share"], row["standard_error"]),
        }
        for row in audit.alphas.to_dict("records")
    ]
    return {
        "sentences": [clean(sentence) for sentence in audit.sentences],
        "all": _prediction(audit.share, audit.standard_error),
        "clusters": clusters,
        "alphas": alphas,
        "bar": 1 - min(fitted.alpha + TOLERANCE, 1.0),
        "n_draws": audit.n_draws,
    }


def _prediction(share: float, error: float) -> dict[str, Any]:
    """Return a share with its error; None for what is not known."""
    known = not math.isnan(share)
    return {"share": share if known else None, "error": None if math.isnan(error) else error}
