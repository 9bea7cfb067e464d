"""What training would take on machines that are not here: memory, messages and seconds.

Read in this order: ``amounts`` (numbers as people write them), ``job`` (what is trained), ``memory`` (bytes of a machine),
``exchange`` (messages of a tree, and the network), ``speed`` (what this machine does in a second), ``plan``
(:func:`rankinite.plan`, all of it for 1, 2, 4, … machines). The model is explained in docs/guide/planning.md.
"""
