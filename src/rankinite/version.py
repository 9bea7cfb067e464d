"""Version: the number of this release, and the public names and verbs of the one before that it lacks.

The package, its metadata and its files take the number from here.
"""

VERSION = "0.3.0.dev0"
_PLANNING = "The formulas for memory, messages and seconds are in the guide, docs/guide/planning.md"
_PAPERS = (
    'The papers\' tables and figures are made in a copy of the repository: make reproduce ARGS="000 table-1", or '
    "python -m papers 000 table-1"
)
REMOVED = {"plan": _PLANNING, "Plan": _PLANNING, "reproduce": _PAPERS}
"""A name that 0.2 had in Python or as a verb → what there is instead, as a sentence. Entries go with 0.4."""
