"""Losses, bound to training data: where each row's score should go (push), and how firmly (curvature).

The push is the negative gradient of the cost by the score, the curvature its second derivative: Σ push / Σ curvature over the
rows of a leaf is its Newton step. Pushes are the λ of paper 002. Read in this order:

- ``base``: ``Objective``, what a loss promises to the learners; query weights.
- ``lambdas`` and ``_pair_kernels``: the one loop over pairs. ``Lambdas`` pushes by σρ|ΔZ| with the swap changes of a measure,
  NDCG's for example (002 §4, §7; 004 §3). ``sum_pairs`` is the loop; documents with equal scores are ranked by their content.
- ``ranknet``: the same loop with ΔZ = 1, or judged preferences (002 §2).
- ``pointwise`` and ``_point_kernels``: losses of single rows: squared (002 §5), logistic (002 §6), multiclass (000 §5); and of
  differences within queries (004 §5).
- ``function_loss``: a loss that is a function of the user.
- ``examination``, ``click_likelihood``, ``debiased`` and ``_debias_kernels``: learning from clicks. How prominently positions
  are looked at; how that is estimated by the likelihood of clicks; λ with a bias for each position (docs/adr/0030).
"""
