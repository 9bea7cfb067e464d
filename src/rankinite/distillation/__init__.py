"""Distillation: one small forest or net in place of a large ensemble (paper 004 §5, after Bucila and others 2006).

Read ``teacher`` (the ensemble as scores and as trees), then the ways to a student: ``selection`` chooses the teacher's own
trees and weighs them anew, by the orthogonal matching pursuit of ``pursuit``; ``growing`` boosts new trees, or trains a net,
towards the teacher's scores of the rows that ``following`` gathers. ``students`` tries them on queries held out and keeps the
better; ``table`` compares them with the teacher and with a ranker of their size that had none.
"""
