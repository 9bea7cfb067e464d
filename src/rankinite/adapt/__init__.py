"""Adapting a ranker to a new domain with few judgments."""

from rankinite.adapt.trada import Trada

__all__ = ["Trada"]
