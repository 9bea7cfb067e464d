"""What users have in their programs and scripts: public names, signatures, options of the verbs, bytes of models."""
