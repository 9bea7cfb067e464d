"""What ``mpiexec`` starts: trains cases together with the other processes; the first prints their digests."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import rankinite as rk
from joint.cases import CASES, from_folders

if __name__ == "__main__":
    root, shards, threads, *names = sys.argv[1:]
    with rk.cluster("mpi") as group, rk.threads(int(threads)):
        found = {name: from_folders(CASES[name], Path(root), int(shards)) for name in names}
        if group.is_first:
            print(json.dumps(found))
