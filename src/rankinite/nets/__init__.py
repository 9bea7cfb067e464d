"""Nets: features on one scale, scores forward, gradients back, steps query by query (paper 002 §2).

- ``network``: a net as arrays: its shape, its first weights, its scores.
- ``_net_kernels``: the pass forward; the pass back, which gives the gradient of Σ λ_i s_i (002 §2.1, equation 4); an epoch of
  steps. The loop of epochs is in ``learners.descent_run``.
- ``features`` and ``_feature_kernels``: features on one scale, and the single feature that best explains the pushes, for
  LambdaBoost (001 §4.1, equations 8–9).
"""
