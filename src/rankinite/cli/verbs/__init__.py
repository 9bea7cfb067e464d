"""The verbs, a file each: parse, call, print. ``adapt_inputs``, ``adapt_results`` and ``combine_methods`` belong to one
verb.
"""
