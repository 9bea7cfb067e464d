"""Exported models: writers, twins and the programs that serve them."""
