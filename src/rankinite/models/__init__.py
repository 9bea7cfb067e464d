"""Models: immutable rankers that score rows, can be saved, weighted and added, and describe themselves.

Read ``base`` first: what every kind has in common, and what others ask of it. The kinds: ``forest``, ``net`` and
``linear`` (``weighted`` is what they share), ``feature``, ``blend``, ``stack``, ``normalised``, ``query_summaries``
(both by ``query_scores``). ``history`` records how training went, ``inputs`` finds features in whatever is scored,
``scorer`` serves many small matrices. To look at models: ``views``, ``text``, ``plots``. ``local_optimum`` tests
weights. ``explanations`` answers why a ranker scores as it does. ``files`` is where models are read and written.
"""
