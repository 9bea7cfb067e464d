"""The most likely curve of examination for given scores, by a general optimiser."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def most_likely_curve(clicked, positions, scores):
    """θ of the positions 1, 2, …, the first of them 1: clicks have probability θ/(1 + exp(−a − b·score)), a and b also free."""
    last = int(positions.max())

    def cost(parameters):
        theta = np.exp(np.append(0.0, parameters[2:]))[positions - 1]
        chance = np.clip(theta / (1 + np.exp(-parameters[0] - parameters[1] * scores)), 1e-12, 0.999)
        return -np.where(clicked, np.log(chance), np.log1p(-chance)).sum()

    found = minimize(
        cost, np.append([0.0, 1.0], np.zeros(last - 1)), method="L-BFGS-B", options={"maxiter": 1000, "ftol": 1e-14}
    )
    return np.exp(np.append(0.0, found.x[2:]))
