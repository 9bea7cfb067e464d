"""Structured random input for everything that reads what others wrote.

``mutation`` makes odd values, lines, trees and bytes; ``data_targets``, ``model_targets`` and ``text_targets`` say how the
input of each reader is made and what must hold afterwards; ``campaign`` runs them in children with limits on time and
memory. ``python -m fuzz --minutes 30`` is the long run, ``python -m fuzz --only letor --seed 17`` repeats one input.
"""
