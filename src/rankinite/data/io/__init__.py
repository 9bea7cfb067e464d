"""Input and output: files and tables in, files out.

``formats`` lists the formats, compressions and their suffixes. ``reading`` is :func:`rankinite.read`: ``read_settings``
checks its settings, ``format_detection`` finds the format of a file, and ``sources`` gets the content from ``letor``,
``table_files`` and ``tables``, ``trec`` or ``arrays``; ``columns`` decides what each column of a table means.
``pieces`` gives the same data some queries at a time: ``row_streams`` goes through a source in slabs of rows (``slabs``), which
come from ``numbered_rows`` (LETOR, matrices) or ``table_rows`` and ``table_streams``.
``streams`` and ``unpacking`` give bytes under bounds. ``writing`` is :func:`rankinite.write`; ``score_files`` has the
scores of rows in every format, and ``trec_lines`` runs and judgements. Every output of any kind goes through
``output_files``, and ``compressing`` where its suffix asks for it.
"""
