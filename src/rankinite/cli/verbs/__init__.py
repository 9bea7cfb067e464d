"""The verbs, a file each: parse, call, print.

``adapt_inputs``, ``adapt_options``, ``adapt_results``, ``adapt_texts`` and ``combine_methods`` belong to one verb.
"""
