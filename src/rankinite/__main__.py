"""``python -m rankinite``: the command line, where the command itself is not on the path."""

from rankinite.cli import main

main()
