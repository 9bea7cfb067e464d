"""Models: immutable rankers that score rows, can be saved, weighted and added, and describe themselves.

Read ``base`` first: what every kind has in common, and what others ask of it. The kinds: ``forest`` (with ``forest_checks``
and ``forest_edits``), ``net``, ``linear``, ``feature``, ``blend``, ``stack``, ``normalised``; ``weighted`` is what nets and
linear rankers share. ``history`` and ``training`` record how training went, ``inputs`` finds features in whatever is scored.
To look at models: ``views``, ``text``, ``notebook``, ``plots``, ``importance``, ``probabilities``. ``local_optimum`` tests
weights with ``weight_space`` and ``directions``. ``explained`` is what rankers answer when they are asked why, by
``explanations``. ``files`` is where models are read and written.
"""
