"""Judged data: queries, their documents, features and grades.

``dataset`` has the one type; ``dataset_checks``, ``cleaning`` and ``grouping`` are what it is made through.
``folds``, ``sampling`` and ``joining`` make data sets of others, ``synthetic`` makes artificial ones, ``preferences``
are judged pairs. ``description`` and ``odd_features`` tell what is in them. ``row_keys`` are hashes of content, by
which ``overlap`` finds queries that two data sets share, ``sketch`` remembers what a model was trained on, and
``fingerprint`` knows data again. ``io`` reads and writes all of it.
"""
