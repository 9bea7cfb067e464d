"""Nets: ``standard`` (features on one scale), ``network`` (layers and scores), ``columns`` (single features, for LambdaBoost);
``_train_kernels`` has an epoch of gradient ascent.
"""
