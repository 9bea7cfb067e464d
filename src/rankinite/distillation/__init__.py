"""Distillation: one small forest or net in place of a large ensemble (paper 004 §5, after Bucila and others 2006).

In the order of reading: ``students`` (every method tried on queries held out, the better one kept, and the table),
``teacher`` (the ensemble as scores and as trees), ``selection`` (the teacher's own trees, chosen and weighted anew),
``mimicry`` (new trees, or a net, that follow the teacher's scores).
"""
