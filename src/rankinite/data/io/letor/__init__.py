"""LETOR text, also known as LIBSVM with query ids.

``files`` reads and writes files, chunk by chunk and in parallel, ``_blocks`` parses a chunk, ``_gatherer`` puts rows together,
``_kernels`` parse and ``_format_kernels`` write single lines, ``_messages`` are the errors.
"""
