"""Methods of adaptation, one file each: ``interpolate``, ``lambdaboost``, ``smart``, ``trada`` (with ``trada_trees``),
``neighbours``, ``pool``. ``catalogue`` lists all that :func:`rankinite.adapt.choose` tries, the simpler first.
"""
