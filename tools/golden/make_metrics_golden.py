"""Writes the golden file that carat's figures of predictions are tested against, from scikit-learn.

    python tools/golden/make_metrics_golden.py [--out crates/carat/tests/golden]

Needs scikit-learn beside NumPy (`requirements.txt`). A case has labels and rows of probabilities, which are f32 and
written with all their digits. A figure that has no meaning (`crates/carat/src/metrics/mod.rs` lists when) is null.
scikit-learn raises or warns there, or answers 0, so this script asks it only where the figure has a meaning: for
ROC AUC and average precision of classes that have labels, each against the rest.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from sklearn import metrics
from sklearn.calibration import calibration_curve

ROOT = Path(__file__).resolve().parents[2]
BINS = 15


def softmax(scores):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def case(seed, n, classes, shares=None, signal=1.5, levels=None, absent=(), never=()):
    """Labels with these shares, and probabilities that lean towards them; `levels` rounds scores, which makes ties."""
    rng = np.random.default_rng(seed)
    shares = np.full(classes, 1 / classes) if shares is None else np.array(shares)
    shares[list(absent)] = 0
    labels = rng.choice(classes, size=n, p=shares / shares.sum())
    scores = rng.normal(size=(n, classes))
    scores[np.arange(n), labels] += signal
    if levels:
        scores = np.round(scores * levels) / levels
    scores[:, list(never)] -= 50
    return labels, softmax(scores).astype(np.float32)


def cases():
    yield "two classes", case(1, 400, 2)
    yield "two classes, two percent positive", case(2, 1000, 2, [0.98, 0.02], signal=1.0)
    yield "two classes, heavy ties", case(3, 500, 2, levels=1)
    yield "two classes, all equal", (case(4, 60, 2)[0], np.full((60, 2), 0.5, np.float32))
    yield "two classes, worse than chance", case(5, 200, 2, signal=-1.0)
    yield "two classes, one of them absent", case(6, 50, 2, absent=[1])
    yield "two classes, saturated", case(7, 300, 2, signal=120.0)
    yield "five classes", case(8, 500, 5)
    yield "five classes, imbalanced", case(9, 800, 5, [0.8, 0.1, 0.05, 0.03, 0.02])
    yield "five classes, heavy ties", case(10, 500, 5, levels=1)
    yield "five classes, one absent", case(11, 300, 5, absent=[3])
    yield "five classes, one absent and never predicted", case(12, 300, 5, absent=[2], never=[2])
    yield "five classes, one never predicted", case(13, 300, 5, never=[4])
    yield "five classes, only one label", case(14, 40, 5, absent=[0, 1, 3, 4])
    yield "forty classes, few nodes", case(15, 90, 40, signal=3.0)
    yield "one node", case(16, 1, 3)


def number(value):
    return None if value is None or np.isnan(value) else float(value)


def figures(labels, p):
    n, classes = p.shape
    wide = p.astype(np.float64)
    predicted = p.argmax(axis=1)
    every = list(range(classes))
    precision, recall, f1, support = metrics.precision_recall_fscore_support(
        labels, predicted, labels=every, zero_division=np.nan
    )
    present = [c for c in every if 0 < (labels == c).sum() < n]
    auc = {c: metrics.roc_auc_score(labels == c, wide[:, c]) for c in present}
    average = {c: metrics.average_precision_score(labels == c, wide[:, c]) for c in present}

    def overall(of_class):
        if classes == 2:
            return of_class.get(1)
        return np.mean(list(of_class.values())) if of_class else None

    if classes > 2 and len(present) == classes:
        # scikit-learn's own macro averages.
        whole = metrics.average_precision_score(np.eye(classes)[labels], wide, average="macro")
        assert abs(whole - overall(average)) < 1e-12
        whole = metrics.roc_auc_score(labels, wide, multi_class="ovr", average="macro")
        assert abs(whole - overall(auc)) < 1e-12
    confidence = wide[np.arange(n), predicted]
    right = predicted == labels
    accuracy, mean = calibration_curve(right, confidence, n_bins=BINS, strategy="uniform")
    edges = np.linspace(0, 1, BINS + 1)
    counts = np.bincount(np.searchsorted(edges[1:-1], confidence), minlength=BINS)
    counts = counts[counts > 0]
    return {
        "accuracy": metrics.accuracy_score(labels, predicted),
        "balanced_accuracy": metrics.balanced_accuracy_score(labels, predicted),
        "macro_f1": metrics.f1_score(labels, predicted, average="macro"),
        "roc_auc": number(overall(auc)),
        "average_precision": number(overall(average)),
        "calibration_error": float(np.sum(counts / n * np.abs(accuracy - mean))),
        "brier": metrics.brier_score_loss(labels, wide[:, 1])
        if classes == 2
        else float(np.mean(np.sum((wide - np.eye(classes)[labels]) ** 2, axis=1))),
        "loss": float(-np.mean(np.log(wide[np.arange(n), labels]))),
        "confusion": metrics.confusion_matrix(labels, predicted, labels=every).tolist(),
        "precision": [number(value) for value in precision],
        "recall": [number(value) for value in recall],
        "f1": [number(value) for value in f1],
        "support": support.tolist(),
        "class_roc_auc": [number(auc.get(c)) for c in every],
        "class_average_precision": [number(average.get(c)) for c in every],
        "bins": [[int(count), float(m), float(a)] for count, m, a in zip(counts, mean, accuracy)],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "crates/carat/tests/golden")
    out = parser.parse_args().out
    # Where a class is predicted but has no label, scikit-learn warns and answers as carat does.
    warnings.filterwarnings("ignore", message="y_pred contains classes not in y_true")
    warnings.filterwarnings("ignore", message="A single label was found")
    written = []
    for name, (labels, p) in cases():
        assert all(np.float32(float(value)) == value for value in p.ravel())
        written.append(
            {
                "name": name,
                "classes": p.shape[1],
                "labels": labels.tolist(),
                "probabilities": [float(str(value)) for value in p.ravel()],
                "figures": figures(labels, p),
            }
        )
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in written)
    (out / "metrics.json").write_text(f"[\n{lines}\n]\n")
    print(f"{out / 'metrics.json'}: {len(written)} cases")


if __name__ == "__main__":
    main()
