"""Classifiers with compiled code behind a StandardScaler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from coreclust._classify.logistic import twin_of_logistic
from coreclust._classify.svm import twin_of_svc

_TWINS: dict[type, Callable[..., Any]] = {LogisticRegression: twin_of_logistic, SVC: twin_of_svc}


def twin_of_pipeline(estimator: Pipeline) -> Any:
    """Return compiled code for a StandardScaler and a classifier, or None for other pipelines."""
    parameters = estimator.get_params(deep=False)
    steps = [step for _, step in parameters.pop("steps")]
    if any(parameters.values()) or len(steps) != 2 or type(steps[0]) is not StandardScaler:
        return None
    make = _TWINS.get(type(steps[1]))
    if make is None:
        return None
    return make(steps[1], center=bool(steps[0].with_mean), scale=bool(steps[0].with_std))
