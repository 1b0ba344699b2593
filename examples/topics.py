"""Topics: which sentences belong reliably to a topic, and which to read before naming it.

Sentences are embedded (here by the weights of their words, reduced to 20 components; vectors of a
language model are used in the same way), reduced by UMAP and clustered by HDBSCAN. The whole chain
is run again on every resample, because UMAP changes with the sentences too. A topic is named by the
words of its core. Sentences that are not core are put on a list to be read.

The sentences are made from the descriptions of four datasets of scikit-learn, so that the answer
is known: 40 of each, and 20 that mix two descriptions.

Run it with ``python examples/topics.py``; it needs ``pip install umap-learn`` and takes about 20
seconds.
"""

import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.cluster import HDBSCAN
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from coreclust import CoreClustering
from coreclust.plotting import CoreClusterDisplay
from coreclust.resampling import Subsample

SOURCES = {
    "flowers": datasets.load_iris,
    "wine": datasets.load_wine,
    "tumors": datasets.load_breast_cancer,
    "handwriting": datasets.load_digits,
}


def words_of(description):
    """Return the words of a text that are not too common, each as often as it occurs."""
    words = re.findall(r"[a-z]{4,}", description.lower())
    return [word for word in words if word not in ENGLISH_STOP_WORDS]


def make_sentences(rng):
    """Return sentences, and the description that each is made from."""
    bags = {name: words_of(load().DESCR) for name, load in SOURCES.items()}
    rows = [(" ".join(rng.choice(bag, 14)), name) for name, bag in bags.items() for _ in range(40)]
    for _ in range(20):
        first, second = rng.choice(list(bags), 2, replace=False)
        mixed = [*rng.choice(bags[first], 7), *rng.choice(bags[second], 7)]
        rows.append((" ".join(mixed), "mixed"))
    return pd.DataFrame(rows, columns=["sentence", "source"])


def main():
    """Embed the sentences, find the topics, name them, and list what to read."""
    from umap import UMAP  # takes seconds to import

    sentences = make_sentences(np.random.default_rng(0))
    weights = TfidfVectorizer(sublinear_tf=True).fit(sentences["sentence"])
    embed = TruncatedSVD(20, random_state=0)
    X = embed.fit_transform(weights.transform(sentences["sentence"]))

    topics = make_pipeline(
        UMAP(n_neighbors=15, n_components=5, min_dist=0, metric="cosine", n_epochs=100, n_jobs=1),
        HDBSCAN(min_cluster_size=12, copy=True),
    )
    # Not a bootstrap: HDBSCAN takes repeated sentences for dense groups.
    cc = CoreClustering(topics, resampling=Subsample(), n_resamples=100, random_state=0).fit(X)

    print(f"{len(sentences)} sentences, {cc.n_clusters_} topics")
    words = weights.get_feature_names_out()
    for core in cc.cores_:
        mean = weights.transform(sentences["sentence"].iloc[core.core]).mean(axis=0)
        top = words[np.asarray(mean).ravel().argsort()[::-1][:4]]
        print(f"topic {core.label}: core of {core.n_core} of {core.n_items}: {', '.join(top)}")
    sentences["status"] = np.where(cc.labels_ >= 0, "core", "to read")
    print("\nwhere the sentences come from:")
    print(pd.crosstab(sentences["source"], sentences["status"]).to_string())

    to_read = sentences[cc.labels_ < 0]
    to_read.to_csv("topics-to-read.csv", index_label="item")
    print(f"\nwritten to topics-to-read.csv: {len(to_read)} sentences to read before naming topics")

    figure, ax = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
    CoreClusterDisplay.from_estimator(cc, X, ax=ax)
    ax.set_title("sentences, first two components of their words")
    figure.savefig("topics.png", dpi=80)


if __name__ == "__main__":
    main()
