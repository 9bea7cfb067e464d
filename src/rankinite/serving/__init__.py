"""Serving: rankers as files that other programs score with.

Read ``exporting`` first: :func:`rankinite.export` from a ranker to a folder. A ranker is *flattened* (``flattening``) into a
sum of forests, linear rankers, nets and features; the choices of one export (``decisions``) make a ``plan`` of it; a *target*
(``target``, and one file each in ``targets``) writes the plan. Every target has a *twin*: a reader of its file that computes
what the program that is meant will compute. ``proof`` compares the twin with the ranker on ``adversarial_rows``, within what
``rounding`` allows. ``categories``, ``category_words``, ``float32``, ``node_table``, ``reference_scores``, ``names`` and
``ubjson_encoder`` are what twins and writers share. ``folder`` adds what goes with a model: sample rows and their scores, a
``model_card``, a manifest. ``served_scores`` compares what a program returned. ``offers`` says which targets take a ranker.
``mlflow_loader`` is what MLflow imports.
"""
