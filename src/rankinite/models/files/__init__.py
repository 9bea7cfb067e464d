"""Model files: ``container`` and ``container_reader`` (our format), ``loading`` (any file), ``lightgbm``, ``xgboost`` with
``ubjson``, ``catboost``, ``ranklib``, ``solr`` and ``onnx`` with ``onnx_ensembles`` and ``onnx_attributes`` (models from
elsewhere), ``parsed`` and ``nested_trees`` (what these share), ``unreadable`` (models that are recognised, but not read),
``matching`` (which features models mean), ``sketches`` (what a model was trained on).
"""
