"""Compiling ahead: kernels are compiled for the machine they run on, once, and kept on disk.

``jobs`` lists small pieces of real work, each of which needs some kernels; ``helpers`` gives them to processes of their own,
beside a verb that has never run here (:class:`~rankinite.warming.helpers.Helpers`) or on their own
(:func:`~rankinite.warming.helpers.warm_up`). A kernel that two processes need is compiled by one (``engine.kernel_cache``).
"""
