"""Files beside a model for the plugins of Elasticsearch and OpenSearch: feature set, upload, rescoring, and a check."""

from __future__ import annotations

from rankinite.serving.plan import ExportPlan
from rankinite.serving.target import Files
from rankinite.serving.targets.query_templates import FILLED_IN, as_json, feature_definition, first_pass, parameters_of

FEATURE_SET = "feature-set.json"
WINDOW = 100
"""Documents of a shard that the rescoring query ranks anew."""
FIRST_WEIGHT = 1e-30
"""What the rescoring query multiplies the first query's scores by. It is lost in a float32 sum with the model's score, so that
the model alone ranks the window; hits beyond the window have nothing else, and keep their order below it. With 0 they would
all be equal."""


def plugin_files(plan: ExportPlan, engine: str) -> Files:
    """All of them."""
    features = [feature_definition(plan, name) for name in plan.names]
    params = parameters_of(plan)
    query = {"sltr": {"model": plan.name, "params": params}}
    ranked = {"rescore_query": query, "query_weight": FIRST_WEIGHT, "rescore_query_weight": 1}
    rescore = {"query": first_pass(params), "rescore": {"window_size": WINDOW, "query": ranked}}
    upload = UPLOAD.replace("FILLED_IN", FILLED_IN.replace("FILE", FEATURE_SET))
    return {
        FEATURE_SET: as_json(
            {
                "validation": {"params": params, "index": "VALUE_OF_index"},  # the engine runs every query there once
                "featureset": {"name": plan.name, "features": features},
            }
        ),
        "upload.sh": upload.replace("PROGRAM", engine).replace("NAME", plan.name).encode(),
        "rescore.json": as_json(rescore),
        "check.py": CHECK.encode(),
    }


UPLOAD = """#!/bin/sh
# Uploads the feature set and the model NAME to PROGRAM, which first runs every feature's query on the index that is named
# under "validation" in feature-set.json, and refuses the set if one fails.
# ENGINE: its address; CURL_OPTIONS: such as "--user name:password --insecure".
set -eu
cd "$(dirname "$0")"
ENGINE="${ENGINE:-http://localhost:9200}"
FILLED_IN
request() {
    # shellcheck disable=SC2086 - options are words
    curl --silent --show-error --fail-with-body ${CURL_OPTIONS:-} --header "Content-Type: application/json" "$@"
}

exists() {
    # shellcheck disable=SC2086
    curl --silent --output /dev/null --fail --head ${CURL_OPTIONS:-} "$ENGINE/$1"
}

stores="$(request "$ENGINE/_ltr")"
case "$stores" in
    *_default_*) ;;
    *) request --request PUT "$ENGINE/_ltr" ;;
esac

if exists _ltr/_model/NAME; then
    echo "There is a model NAME already, and models cannot be changed: export under another --name, or delete it first:" >&2
    echo "curl --request DELETE $ENGINE/_ltr/_model/NAME" >&2
    exit 1
fi

method=PUT
if exists _ltr/_featureset/NAME; then
    method=POST
fi
request --request "$method" --data-binary @feature-set.json "$ENGINE/_ltr/_featureset/NAME"
request --request POST --data-binary @model.json "$ENGINE/_ltr/_featureset/NAME/_createmodel"
echo
"""

CHECK = '''"""Features and scores of real documents, as the engine computes them.

Fill in rescore.json, then run: ENGINE=http://localhost:9200 python check.py INDEX
It writes logged.csv and served.txt, for: rankinite check . --scores served.txt --data logged.csv
"""

import csv
import json
import os
import sys
import urllib.request

with open("feature-set.json", encoding="utf-8") as file:
    names = [feature["name"] for feature in json.load(file)["featureset"]["features"]]
with open("rescore.json", encoding="utf-8") as file:
    body = json.load(file)
body["size"] = body["rescore"]["window_size"]
body["ext"] = {"ltr_log": {"log_specs": {"name": "features", "rescore_index": 0}}}

address = f"{os.environ.get('ENGINE', 'http://localhost:9200')}/{sys.argv[1]}/_search"
request = urllib.request.Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})
if os.environ.get("AUTHORIZATION"):  # such as "ApiKey ..." or "Basic ..."
    request.add_header("Authorization", os.environ["AUTHORIZATION"])
with urllib.request.urlopen(request) as answer:
    hits = json.load(answer)["hits"]["hits"]

with open("logged.csv", "w", encoding="utf-8", newline="") as rows, open("served.txt", "w", encoding="utf-8") as scores:
    writer = csv.writer(rows)
    writer.writerow(["qid", *names])
    for hit in hits:
        logged = {entry["name"]: entry.get("value", "") for entry in hit["fields"]["_ltrlog"][0]["features"]}
        writer.writerow([1, *(logged.get(name, "") for name in names)])
        scores.write(f"{hit['_score']!r}\\n")
print(f"{len(hits)} documents")
'''
