"""The same work on this processor, as on an old one, and by plain Python: ``python -m determinism``."""

from __future__ import annotations

import sys

from determinism.processors import PROCESSORS, results_with


def main() -> None:
    here = results_with({})
    print(f"{len(here)} results on this processor")
    differing = False
    for name, environment in PROCESSORS.items():
        found = results_with(environment)
        others = [key for key in here if found.get(key) != here[key]]
        differing |= bool(others)
        print(f"{name}: {', '.join(others)} differ" if others else f"{name}: the same bytes", flush=True)
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
