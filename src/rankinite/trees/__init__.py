"""Regression trees: ``settings``, ``bins`` (features as bytes), ``grow`` (one tree), ``structure`` (trees as arrays) and
``walk`` (rows down trees, which scoring, boosting and Trada share). The kernels under ``grow`` are listed in ARCHITECTURE.md.
"""
