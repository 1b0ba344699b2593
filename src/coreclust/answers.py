"""What can be asked of a fitted core clustering, without clustering again."""

from __future__ import annotations

import copy
import os
import warnings
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_html_repr
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from coreclust._inspection.path import CorePath, check_values
from coreclust._inspection.tables import item_table, summary_table
from coreclust._sampling.models import CenterModel, Model, label_new
from coreclust._utils.validation import check_confidence
from coreclust.cores import (
    Core,
    core_clusters,
    core_labels,
    core_path,
)
from coreclust.evidence import PairTest, pair_test
from coreclust.evidence._counting import agreement_with
from coreclust.evidence._ensemble import LabelEnsemble
from coreclust.evidence._pair_evidence import PairEvidence
from coreclust.evidence._rule import edge_table, pair_share

_ALPHAS = np.arange(1, 51) / 100

PATH_SECONDS = 60.0  # for the cores along alpha in a picture


def _can_predict(fitted: CoreAnswers) -> bool:
    """Tell whether new items can be labeled; raise with the reason if not."""
    if not fitted.keep_models or not getattr(fitted, "_models", True):
        raise AttributeError("predict needs keep_models=True, set before fit.")
    return True


class CoreAnswers(BaseEstimator):
    """Answers from the resamples of a fitted estimator, which inherits them."""

    alpha: float
    confidence: float | None
    guarantee: str
    noise: str
    time_limit: float | None
    max_memory: float | None
    n_jobs: int | None
    keep_models: bool
    ensemble_: LabelEnsemble | PairEvidence
    reference_labels_: NDArray[np.int64]
    _models: list[Model]
    _anytime: bool  # whether the number of resamples was chosen by looking at them

    def recut(self, **changes: Any) -> Self:
        """Answer again from the same resamples, under other rules.

        Parameters
        ----------
        **changes : alpha, confidence, guarantee, noise, time_limit or max_memory
            The parameters to change.

        Returns
        -------
        cut : CoreClustering
            A new fitted estimator that shares this one's ensemble.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from coreclust import CoreClustering
        >>> cc = CoreClustering(n_resamples=50, random_state=0).fit(load_iris().data)
        >>> strict = cc.recut(alpha=0.05)
        >>> strict.alpha, cc.alpha
        (0.05, 0.1)
        """
        check_is_fitted(self)
        allowed = ("alpha", "confidence", "guarantee", "noise", "time_limit", "max_memory")
        for name in changes:
            if name not in allowed:
                raise TypeError(
                    f"recut() changes {', '.join(allowed)}, not {name!r}; "
                    "for anything else, fit again."
                )
        cut = copy.copy(self).set_params(**changes)
        cut._validate_params()
        cut._keep_cores(cut._cut(cut.ensemble_, cut.reference_labels_, anytime=cut._anytime))
        return cut

    def alpha_path(self, alphas: ArrayLike | None = None) -> CorePath:
        """Find the cores at many values of alpha, from the same resamples.

        Pairs are counted only once, and a core at one alpha is where the search for the next
        one starts.

        Parameters
        ----------
        alphas : array-like of float, default=None
            By default 0.01 to 0.5 in steps of 0.01, from where on a pair that is seen about as
            often as most can pass.

        Returns
        -------
        path : CorePath
            With the cores and the weak fraction at each alpha, ascending. Where several
            largest cores tie, the choice may be another than that of :meth:`recut`.

        Examples
        --------
        >>> from sklearn.cluster import KMeans
        >>> from sklearn.datasets import load_iris
        >>> from coreclust import CoreClustering
        >>> cc = CoreClustering(KMeans(3), n_resamples=200, random_state=0).fit(load_iris().data)
        >>> path = cc.alpha_path([0.05, 0.1, 0.2])
        >>> bool((path.weak_fraction[:-1] >= path.weak_fraction[1:]).all())
        True
        """
        check_is_fitted(self)
        given = self._reachable_alphas() if alphas is None else alphas
        values = check_values(given, "alphas", open_ends=False)
        return self._path("alpha", values, [(alpha, self.confidence) for alpha in values.tolist()])

    def confidence_path(self, confidences: ArrayLike) -> CorePath:
        """Find the cores at many values of confidence, from the same resamples.

        Parameters
        ----------
        confidences : array-like of float
            Above 0 and below 1.

        Returns
        -------
        path : CorePath
            With the cores and the weak fraction at each confidence, ascending.

        Examples
        --------
        >>> from sklearn.cluster import KMeans
        >>> from sklearn.datasets import load_iris
        >>> from coreclust import CoreClustering
        >>> cc = CoreClustering(KMeans(3), n_resamples=200, random_state=0).fit(load_iris().data)
        >>> cc.confidence_path([0.5, 0.9, 0.99])
        CorePath(confidence from 0.5 to 0.99, 3 values)
        """
        check_is_fitted(self)
        values = check_values(confidences, "confidences", open_ends=True)
        # From the strictest on: the highest confidence.
        rules = [(self.alpha, level) for level in values[::-1].tolist()]
        return self._path("confidence", values, rules, backwards=True)

    def cooccurrence(self, i: Any, j: Any) -> Any:
        """Estimate the probability that items i and j get the same label.

        Parameters
        ----------
        i, j : int or array-like of int
            Items, by position; arrays are paired up by broadcasting.

        Returns
        -------
        p : float or ndarray of float

        Examples
        --------
        >>> from sklearn.cluster import KMeans
        >>> from sklearn.datasets import load_iris
        >>> from coreclust import CoreClustering
        >>> cc = CoreClustering(KMeans(3), n_resamples=200, random_state=0).fit(load_iris().data)
        >>> cc.cooccurrence(0, 1) > 0.9, cc.cooccurrence(0, [1, 149]).shape
        (True, (2,))
        """
        check_is_fitted(self)
        return self.ensemble_.cooccurrence(i, j, noise=self.noise)

    def test_pair(self, i: Any, j: Any, *, confidence: float = 0.95) -> PairTest:
        """Test whether items i and j co-occur with probability at least ``1 - alpha``.

        Each pair is tested by itself; for many pairs at once, compare `p_value` with
        ``(1 - confidence)`` divided by their number.

        Parameters
        ----------
        i, j : int or array-like of int
            Items, by position; arrays are paired up by broadcasting.
        confidence : float, default=0.95
            Of the interval, and 1 minus the level of the test.

        Returns
        -------
        test : PairTest
            With `estimate`, `lower`, `upper`, `p_value`, `together`, `n_together` and
            `n_seen`, numbers or arrays. The test is one-sided and the interval is not: of a
            pair that is `together`, `lower` may be a little below ``1 - alpha``.

        Examples
        --------
        >>> from sklearn.cluster import KMeans
        >>> from sklearn.datasets import load_iris
        >>> from coreclust import CoreClustering
        >>> cc = CoreClustering(KMeans(3), random_state=0).fit(load_iris().data)
        >>> test = cc.test_pair(0, 1)
        >>> test.together, test.lower > 0.98
        (True, True)
        """
        check_is_fitted(self)
        if confidence is None:
            raise ValueError("confidence must be a number above 0 and below 1, got None.")
        check_confidence(confidence)
        together, seen = self.ensemble_.cooccurrence_counts(i, j, noise=self.noise)
        n_prior = None if isinstance(self.ensemble_, PairEvidence) else self.ensemble_.n_items
        return pair_test(
            together,
            seen,
            n_prior,
            alpha=self.alpha,
            confidence=confidence,
            anytime=self._anytime,
        )

    @available_if(_can_predict)
    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the core that each new item belongs to, -1 for none.

        The model of each resample labels the new items. An item belongs to a core if it passes
        the rule of the cores with *every* member: it gets the member's label in enough of
        the resamples that labeled the member. If there are several, that with which it is
        together most often.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)

        Returns
        -------
        labels : ndarray of int of shape (n_new,)

        Examples
        --------
        >>> from sklearn.cluster import KMeans
        >>> from sklearn.datasets import load_iris
        >>> from coreclust import CoreClustering
        >>> X = load_iris().data
        >>> cc = CoreClustering(KMeans(3), keep_models=True, random_state=0).fit(X[::2])
        >>> labels = cc.predict(X[1::2])
        >>> labels.shape, bool((labels[:25] == labels[0]).all())
        ((75,), True)
        """
        check_is_fitted(self)
        new = label_new(self._models, self._check_new(X))
        labels = np.full(len(new), -1, dtype=np.int64)
        highest = np.full(len(new), -1.0)
        ensemble = cast(LabelEnsemble, self.ensemble_)
        table = self._edge_table(self.alpha)
        for core in self.cores_:
            members = ensemble.labels[core.core]
            fits, together, seen = agreement_with(new, members, table, self.noise)
            share = together / np.maximum(seen, 1)
            better = fits & (share > highest)
            labels[better], highest[better] = core.label, share[better]
        return labels

    def summary(self) -> Any:
        """Return a data frame with a row a cluster.

        Returns
        -------
        summary : DataFrame
            With columns `cluster` (its name), `size`, `core`, `weak` (counts),
            `weak_fraction`, `all_together` (the share of resamples in which *all* members
            of the core that were present, if two or more, had one label), `upper_bound`
            (on the size of the core) and `optimal`.

        Examples
        --------
        >>> from sklearn.cluster import KMeans
        >>> from sklearn.datasets import load_iris
        >>> from coreclust import CoreClustering
        >>> cc = CoreClustering(KMeans(3), n_resamples=200, random_state=0).fit(load_iris().data)
        >>> cc.summary()["size"].sum(), cc.summary()["optimal"].all()
        (np.int64(150), np.True_)
        """
        check_is_fitted(self)
        return summary_table(self)

    def item_table(self, *, details: bool = True) -> Any:
        """Return a data frame with a row an item.

        Parameters
        ----------
        details : bool, default=True
            Whether to compute the last three columns, too: every item is compared with the
            whole core of its cluster, which for clusters of many thousands takes a while.

        Returns
        -------
        items : DataFrame
            If X was a pandas or polars frame, of the same kind, with its index and its
            columns first. Then `cluster` (the name of the item's cluster), `core_label`
            (as in `labels_`), `status` ("core", "weak" or "trimmed"), `strength` (the
            share of the item's meetings with members of its cluster in which they had the
            same label), `mean_cooccurrence` and `min_cooccurrence` (with the other members of
            the cluster's core) and `core_alpha` (the smallest alpha at which the item is in
            a core, out of those of :meth:`alpha_path` and `alpha` itself; NaN if there is
            none). Cores need not be nested: a weak item may have a `core_alpha` below `alpha`.

        Examples
        --------
        >>> from sklearn.cluster import KMeans
        >>> from sklearn.datasets import load_iris
        >>> from coreclust import CoreClustering
        >>> cc = CoreClustering(KMeans(3), n_resamples=200, random_state=0).fit(load_iris().data)
        >>> items = cc.item_table()
        >>> sorted(items["status"].unique())
        ['core', 'weak']
        """
        check_is_fitted(self)
        return item_table(self, details=details)

    def to_html(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        *,
        ids: Any = None,
        title: str | None = None,
        positions: ArrayLike | None = None,
    ) -> None:
        """Write a report to look at: one HTML file that opens offline and in any browser.

        It holds the verdict in words, a scatter plot with a slider for alpha, the weak fraction
        against alpha, a heat map of co-occurrence, the table of clusters, a table of items to
        search, sort and download, and how it was all made. Above 10,000 items, a resample of
        them is drawn and listed, and the report says so.

        Parameters
        ----------
        path : path
            The file, written whole or not at all.
        X : array-like of shape (n_items, n_features), default=None
            The data, to draw items by: two features as they are, more by their first two
            principal components. By default the frame that was fitted, if it was one; else
            items are drawn by cluster and strength.
        ids : sequence of n_items names, default=None
            By default the index of the frame that was fitted, or the positions of the items.
        title : str, default=None
            Of the page.
        positions : array-like of shape (n_items, 2), default=None
            Where to draw the items instead, for instance a UMAP embedding.

        Raises
        ------
        ImportError
            If what ``coreclust[report]`` installs is missing.

        Notes
        -----
        The slider has the alphas of :meth:`alpha_path`. If there is no `time_limit`, the search
        along them gets a minute; on hard data the report then says at which alphas the cores
        are not proven to be the largest. Those at `alpha` itself are always the fitted ones.

        Examples
        --------
        >>> from sklearn.cluster import KMeans
        >>> from sklearn.datasets import load_iris
        >>> from coreclust import CoreClustering
        >>> X = load_iris(as_frame=True).data
        >>> cc = CoreClustering(KMeans(3), n_resamples=50, random_state=0).fit(X)
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> file = Path(mkdtemp()) / "report.html"
        >>> cc.to_html(file, title="Iris")
        >>> file.read_text(encoding="utf-8")[:15]
        '<!doctype html>'
        """
        from coreclust.report import write_report

        write_report(self, path, X, ids=ids, title=title, positions=positions)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        settings = super().__repr__(N_CHAR_MAX)
        if not hasattr(self, "cores_"):
            return settings
        from coreclust._inspection.display import as_text

        return f"{settings}\n{as_text(self)}"

    def _repr_html_inner(self) -> str:
        """Return what a notebook shows: the answer, and scikit-learn's diagram."""
        diagram = estimator_html_repr(self)
        if not hasattr(self, "cores_"):
            return diagram
        from coreclust._inspection.display import as_html

        return as_html(self) + diagram

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def _reachable_alphas(self) -> NDArray[np.float64]:
        """Return the usual alphas, without those at which hardly any pair can be an edge."""
        seen = int(0.8 * pair_share(self.ensemble_) * self.ensemble_.n_resamples)
        reachable = [self._edge_table(alpha)[seen] >= 0 for alpha in _ALPHAS.tolist()]
        return _ALPHAS[reachable] if any(reachable) else _ALPHAS[-1:]

    def _edge_table(self, alpha: float) -> NDArray[np.int64]:
        sizes = np.array([core.size for core in self.cores_], dtype=np.int64)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # too few resamples were told of in fit
            return edge_table(
                self.ensemble_,
                sizes,
                alpha,
                self.confidence,
                self.guarantee,
                anytime=self._anytime,
            )

    def _path(
        self,
        parameter: str,
        values: NDArray[np.float64],
        rules: list[tuple[float, float | None]],
        *,
        backwards: bool = False,
    ) -> CorePath:
        cores = core_path(
            self.ensemble_,
            self.reference_labels_,
            rules,
            guarantee=self.guarantee,
            noise=self.noise,
            time_limit=self.time_limit,
            anytime=self._anytime,
            max_memory=self.max_memory,
            n_jobs=self.n_jobs,
        )
        cores = cores[::-1] if backwards else cores
        labels = np.array([core_labels(found, self.ensemble_.n_items) for found in cores])
        return CorePath(parameter, values, cores, labels)

    def _check_new(self, X: Any) -> Any:
        """Return new items as the kept models take them."""
        if not isinstance(self._models[0], CenterModel):
            return validate_data(self, X, reset=False, skip_check_array=True)
        return validate_data(self, X, reset=False, dtype=np.float64)

    def _cut(
        self,
        evidence: LabelEnsemble | PairEvidence,
        reference: NDArray[np.int64],
        *,
        anytime: bool,
    ) -> list[Core]:
        """Return the cores under the rules as they are set."""
        return core_clusters(
            evidence,
            reference,
            alpha=self.alpha,
            confidence=self.confidence,
            guarantee=self.guarantee,
            noise=self.noise,
            time_limit=self.time_limit,
            anytime=anytime,
            max_memory=self.max_memory,
            n_jobs=self.n_jobs,
        )

    def _keep_cores(self, cores: list[Core]) -> None:
        self.cores_ = cores
        self.labels_ = core_labels(cores, self.ensemble_.n_items)
        clustered = self.reference_labels_ >= 0
        self.core_sample_indices_ = np.flatnonzero(self.labels_ >= 0)
        self.weak_sample_indices_ = np.flatnonzero((self.labels_ < 0) & clustered)
        self.trimmed_sample_indices_ = np.flatnonzero(~clustered)


def path_to_draw(fitted: CoreAnswers, alphas: ArrayLike | None = None) -> CorePath:
    """Return the cores along alpha for a picture of them.

    Small alphas can be much harder than the one that was asked for. So that a picture does not
    take hours, the search has a time limit of its own if the fit had none; it only strikes on
    hard data, where `CorePath.cores` says which lack a proof.
    """
    if fitted.time_limit is None:
        fitted = copy.copy(fitted).set_params(time_limit=PATH_SECONDS)
    return fitted.alpha_path(alphas)
