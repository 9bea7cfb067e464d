"""How code is compiled and run: Numba, threads, memory.

Read ``kernel`` (the one decorator, and the dtypes that all arrays share), then ``parallel`` (threads by ranges of
queries, and teams that stay together; ``held_interrupts`` makes Ctrl-C wait for them) and ``barriers`` (how such a team
meets inside a kernel). ``kernel_cache`` keeps compiled kernels on disk. ``_math_kernels`` and ``powers``: exp, log, tanh
and powers with the same bits on every processor. ``memory``: how much this process may still use.
"""
