"""Model files: ``container`` and ``container_reader`` (our format), ``loading`` (any file), ``lightgbm`` and ``xgboost`` with
``ubjson`` and ``parsed`` (models from elsewhere), ``matching`` (which features these mean), ``sketches`` (what a model was
trained on).
"""
