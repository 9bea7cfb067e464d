"""What serves a model: the real program where it runs here, else a slow evaluator written from what is known of its rules.

A module has the name of its target (with ``_`` for ``-``) and ``scores(cases)``: the scores of each case's rows.
"""
