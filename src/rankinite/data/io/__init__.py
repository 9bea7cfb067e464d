"""Files and tables in, files out.

``reading`` is :func:`rankinite.read`: it asks ``formats`` what a file is, and ``letor``, ``table_files`` and
``tables``, ``trec`` or ``arrays`` for its content; ``columns`` decides what each column of a table means. ``streams``
and ``unpacking`` give bytes under bounds. ``writing`` is :func:`rankinite.write`; every output of any kind goes
through ``output_files``.
"""
