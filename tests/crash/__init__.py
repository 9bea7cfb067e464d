"""Signals at random moments of every verb that writes: whatever is there afterwards is whole, and a rerun ends as if
nothing had happened. ``python -m crash --minutes 10`` is the long run.
"""
