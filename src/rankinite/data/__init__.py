"""Judged data: queries, their documents, features and grades. Everything else works on a ``Dataset``.

To know the type, read in this order: ``dataset``, with all that a data set can be asked for; ``dataset_checks``, what holds of
every data set; ``grouping``, how the rows of a query are brought together, and values that know the order of their rows;
``preferences``, judged pairs; ``categories``, features that are words; ``grades``, words as grades, and missing grades;
``value_rules``, what reading does with infinite features and negative grades.

Data from data: ``joining``, ``folds`` and ``sampling``. Data from nothing: ``synthetic``, and ``clicks`` on judged data.

About data: ``identity`` says which rows, queries and data sets are the same (keys of rows, fingerprints, overlap, sketches);
``describe`` summarises, and ``odd_features`` finds ids, positions and clicks among features. Compiled loops are in
``_kernels``. ``io`` reads and writes all of it.
"""
