"""Models: immutable rankers that score rows, can be saved, weighted and added, and say what they are.

Read ``base`` first: what every kind has in common, and what the others ask it. The kinds: ``forest`` (with
``forest_checks``), ``net``, ``linear``, ``feature``, ``blend``, ``stack``, ``normalised``; ``weighted`` is what nets
and linear rankers share. ``history`` tells how training went, ``inputs`` finds features in whatever is scored. To
look at models: ``views``, ``text``, ``notebook``, ``plots``, ``importance``, ``probabilities``. ``local_optimum``
tests weights with ``weight_space`` and ``directions``. ``files`` is where models are read and written.
"""
