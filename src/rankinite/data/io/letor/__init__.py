"""LETOR text, also known as LIBSVM with query ids.

``files`` reads and writes whole files, ``_blocks`` parses chunks in parallel, ``_gatherer`` puts their rows together,
``_kernels`` parse and ``_format_kernels`` write single lines, ``_messages`` are the errors.
"""
