"""How code is compiled and run: Numba, threads, memory.

Read ``kernel`` (the one decorator, and the dtypes that all arrays share), then ``parallel`` (threads by ranges of
queries, and teams that stay together; ``held_interrupts`` makes Ctrl-C wait for them) and ``barriers`` (how such a team
meets inside a kernel). ``kernel_dispatcher`` compiles what Python calls, and what only kernels call no further than
needed; ``kernel_cache`` keeps compiled kernels on disk, in the ``kernel_folder``; ``compile_notices`` says that something
is compiled. ``_math_kernels`` and ``powers``: exp, log, tanh and powers with the same bits on every processor.
``user_functions`` compiles code of ours around functions that users write, ``function_names`` names these.
``memory``: how much this process may still use. ``file_locks``: what one process at a time holds.
"""
