"""Judged data: queries, their documents, features and grades.

``dataset`` has the one type; ``dataset_checks``, ``cleaning``, ``grouping`` and ``selection`` are its parts. ``folds``,
``sampling`` and ``joining`` make data sets from others, ``synthetic`` makes artificial ones, ``preferences`` are judged
pairs. ``description`` and ``odd_features`` describe them, and ``judged_rows`` knows which rows nobody judged. ``row_keys``
are hashes of content, by which ``overlap`` finds queries that two data sets share, ``sketch`` keeps which queries a model
was trained on, and ``fingerprint`` recognises data. ``io`` reads and writes all of it.
"""
