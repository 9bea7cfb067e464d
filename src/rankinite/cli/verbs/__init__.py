"""The verbs, one file each: parse, call, print.

A file such as ``train_inputs`` or ``combine_methods`` belongs to the verb that its name begins with.
"""
