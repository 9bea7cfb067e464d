"""What must hold before rankers and data are put together: ``grade_scales``."""
