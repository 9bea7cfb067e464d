"""Companions of a rank profile: deployment, query, check."""

from __future__ import annotations

import json

from rankinite.serving.plan import ExportPlan
from rankinite.serving.target import Files

FEATURES = "features.json"


def function_block(name: str, text: str, comment: str = "") -> str:
    """A function of a rank profile."""
    remark = f"  # {comment}" if comment else ""
    return f"    function {name}() {{{remark}\n        expression {{\n{text}\n        }}\n    }}\n"


def companions_of(plan: ExportPlan, functions: dict[str, str]) -> Files:
    """Scripts, a query, and the profile of the check."""
    query = {
        "yql": "select * from sources * where userQuery()",
        "query": "…",
        "hits": 10,
        "ranking.profile": plan.name,
    }
    return {
        "upload.sh": UPLOAD.replace("NAME", plan.name).encode(),
        "query.json": (json.dumps(query, indent=1, ensure_ascii=False) + "\n").encode(),
        f"{plan.name}_check.profile": check_profile(plan.name, list(functions.values())).encode(),
        "check.py": CHECK.replace("NAME", plan.name).encode(),
    }


def check_profile(name: str, functions: list[str]) -> str:
    """The same model over features that are given with the query: x0, x1, …, or absent0, … for those that are missing."""
    blocks = [
        function_block(function, f"if(query(absent{number}) == 1, log(0.0 - query(absent{number})), query(x{number}))")
        for number, function in enumerate(functions)
    ]
    inputs = "".join(
        f"        query({word}{number}) double: 0\n" for number in range(len(functions)) for word in ("x", "absent")
    )
    head = f"    inputs {{\n{inputs}    }}\n" if functions else ""
    remark = "# For check.py only: features are given with the query.\n"
    return f"{remark}rank-profile {name}_check inherits {name} {{\n{head}{''.join(blocks)}}}\n"


UPLOAD = """#!/bin/sh
# Puts the profile into an application package and deploys it: APPLICATION=my-app SCHEMA=product ./upload.sh
# ENGINE: where Vespa's configuration server is. WITH_CHECK=1: with the profile that check.py asks for.
set -eu
cd "$(dirname "$0")"
ENGINE="${ENGINE:-http://localhost:19071}"
APPLICATION="${APPLICATION:?give the folder of the application package}"
SCHEMA="${SCHEMA:?give the name of the schema}"

mkdir -p "$APPLICATION/schemas/$SCHEMA"
cp NAME.profile "$APPLICATION/schemas/$SCHEMA/"
if [ -n "${WITH_CHECK:-}" ]; then cp NAME_check.profile "$APPLICATION/schemas/$SCHEMA/"; fi
tar -C "$APPLICATION" -czf - . | curl --fail-with-body --silent --show-error -H 'Content-Type: application/x-gzip' \\
    --data-binary @- "$ENGINE/application/v2/tenant/default/prepareandactivate"
"""

CHECK = '''"""Scores of the sample by Vespa: python check.py, then: rankinite check . --scores served.txt

The profile NAME_check must be deployed (WITH_CHECK=1 ./upload.sh), and there must be a document. Environment: ENGINE, where
Vespa answers queries.
"""

import csv
import json
import os
from urllib.request import Request, urlopen

engine = os.environ.get("ENGINE", "http://localhost:8080")
with open("sample.csv", newline="") as lines:
    head, *rows = csv.reader(lines)
with open("features.json") as file:
    places = {feature["name"]: number for number, feature in enumerate(json.load(file))}
with open("served.txt", "w") as served:
    for row in rows:
        asked = {"yql": "select * from sources * where true", "hits": 1, "ranking.profile": "NAME_check"}
        for column, entry in zip(head, row):
            number = places[column]
            asked[f"input.query(x{number})" if entry else f"input.query(absent{number})"] = float(entry) if entry else 1
        body = json.dumps(asked).encode()
        request = Request(engine + "/search/", data=body, headers={"Content-Type": "application/json"})
        with urlopen(request) as answer:
            print(repr(float(json.load(answer)["root"]["children"][0]["relevance"])), file=served)
'''
