"""RankLib's models, evaluated one row and one node at a time, as RankLib's own rules have it."""

from __future__ import annotations

from xml.dom import minidom

import numpy as np


def ranklib_scores(text, vectors):
    """The scores of rows (feature → float32 or NaN, by number from 1 on): float32 of an ensemble, float64 of a linear model."""
    first = text.splitlines()[0]
    assert first.startswith("## ")
    score = {"LAMBDAMART": ensemble, "LINEAR REGRESSION": linear}[first.removeprefix("## ").upper()]
    return np.asarray(score(text, vectors))


def ensemble(text, vectors):
    """Comments are left out, lines stripped and joined; then first children are elements, not white space."""
    joined = "".join(line.strip() for line in text.splitlines() if not line.startswith("#"))
    trees = [
        (tree.firstChild, np.float32(tree.getAttribute("weight")))
        for tree in minidom.parseString(joined).getElementsByTagName("tree")
    ]
    assert trees
    totals = []
    for vector in vectors:
        total = np.float32(0)
        for root, weight in trees:
            total = np.float32(float(total) + float(leaf(root, vector)) * float(weight))
        totals.append(total)
    return totals


def leaf(node, vector):
    """The value of the leaf that a row comes to: children count by position."""
    while node.firstChild.nodeName == "feature":
        feature, threshold, left, right = node.childNodes
        assert (left.getAttribute("pos"), right.getAttribute("pos")) == ("left", "right")
        value = vector[int(feature.firstChild.nodeValue)]
        value = np.float32(0) if np.isnan(value) else value
        node = left if value <= np.float32(float(threshold.firstChild.nodeValue)) else right
    output = node.firstChild
    assert output.nodeName == "output"
    return np.float32(float(output.firstChild.nodeValue))


def linear(text, vectors):
    """The constant, then weight × value, in float64 and in the order written."""
    [line] = [line for line in text.splitlines() if line.strip() and not line.startswith("##")]
    pairs = [(int(word.split(":")[0]), float(word.split(":")[1])) for word in line.split(" ")]
    [bias] = [weight for number, weight in pairs if number == 0]
    totals = []
    for vector in vectors:
        total = bias
        for number, weight in pairs:
            if number > 0:
                value = float(vector[number])
                total += weight * (0.0 if np.isnan(value) else value)
        totals.append(total)
    return totals
