"""Losses, bound to training data: where each row's score should go (push), and how firmly (curvature).

``base`` states what an objective is. ``lambdas``: λ-gradients of any trainable measure; ``ranknet``, ``pairs`` and
``preferences``: pair costs; ``squared``, ``logistic``, ``multiclass``: losses of single rows; ``differences``: squared
loss within queries; ``function_loss``: a function of the user. One loop over pairs is in ``_kernels``.
"""
