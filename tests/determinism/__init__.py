"""The same bytes whatever instructions the processor has."""
