"""Targets: one file for each program that serves rankers, with its writer and its twin."""
