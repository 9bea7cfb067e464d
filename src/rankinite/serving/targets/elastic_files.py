"""Files beside a model for Elasticsearch's own learning to rank: extractors, upload, rescoring, and a check."""

from __future__ import annotations

from typing import Any

from rankinite.serving.plan import ExportPlan
from rankinite.serving.target import Files
from rankinite.serving.targets.query_templates import FILLED_IN, as_json, feature_definition, first_pass, parameters_of

FILE = "model.json"
WINDOW = 100
"""Documents of a shard that the rescoring query ranks anew."""


def extractors(plan: ExportPlan) -> list[dict[str, Any]]:
    """How each feature is computed."""
    return [
        {"query_extractor": {"feature_name": name, "query": feature_definition(plan, name)["template"]}} for name in plan.names
    ]


def elastic_files(plan: ExportPlan) -> Files:
    """All of them."""
    params = parameters_of(plan)
    ranked = {"window_size": WINDOW, "learning_to_rank": {"model_id": plan.name, "params": params}}
    return {
        "upload.sh": UPLOAD.replace("FILLED_IN", FILLED_IN.replace("FILE", FILE)).replace("NAME", plan.name).encode(),
        "rescore.json": as_json({"query": first_pass(params), "rescore": ranked}),
        "check.py": CHECK.encode(),
    }


UPLOAD = """#!/bin/sh
# Uploads the trained model NAME to Elasticsearch.
# ENGINE: its address; CURL_OPTIONS: such as "--user name:password --insecure".
set -eu
cd "$(dirname "$0")"
ENGINE="${ENGINE:-http://localhost:9200}"
FILLED_IN
# shellcheck disable=SC2086 - options are words
curl --silent --show-error --fail-with-body ${CURL_OPTIONS:-} --header "Content-Type: application/json" \\
    --request PUT --data-binary @model.json "$ENGINE/_ml/trained_models/NAME"
echo
"""

CHECK = '''"""Features and scores of real documents, as the engine computes them.

Fill in rescore.json, then run: ENGINE=http://localhost:9200 python check.py INDEX
It writes logged.csv and served.txt, for: rankinite check . --scores served.txt --data logged.csv
Parameters are put into queries where they are written as {{name}}; other templates are not understood here.
"""

import csv
import json
import os
import sys
import urllib.request


def search(body, options=""):
    address = f"{os.environ.get('ENGINE', 'http://localhost:9200')}/{sys.argv[1]}/_search{options}"
    request = urllib.request.Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})
    if os.environ.get("AUTHORIZATION"):  # such as "ApiKey ..." or "Basic ..."
        request.add_header("Authorization", os.environ["AUTHORIZATION"])
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["hits"]["hits"]


with open("model.json", encoding="utf-8") as file:
    found = json.load(file)["inference_config"]["learning_to_rank"]["feature_extractors"]
with open("rescore.json", encoding="utf-8") as file:
    body = json.load(file)
queries = {entry["query_extractor"]["feature_name"]: json.dumps(entry["query_extractor"]["query"]) for entry in found}
for name, value in body["rescore"]["learning_to_rank"]["params"].items():
    word = json.dumps(str(value))[1:-1]
    queries = {feature: query.replace("{{" + name + "}}", word) for feature, query in queries.items()}

size = body["rescore"]["window_size"]
ranked = search({**body, "size": size})
should = [{"bool": {"must": json.loads(query), "_name": name}} for name, query in queries.items()]
only = {"terms": {"_id": [hit["_id"] for hit in ranked]}}
logged = search({"size": size, "query": {"bool": {"should": should, "filter": only}}}, "?include_named_queries_score=true")
features = {hit["_id"]: hit.get("matched_queries", {}) for hit in logged}

with open("logged.csv", "w", encoding="utf-8", newline="") as rows, open("served.txt", "w", encoding="utf-8") as scores:
    writer = csv.writer(rows)
    writer.writerow(["qid", *queries])
    for hit in ranked:
        writer.writerow([1, *(features.get(hit["_id"], {}).get(name, "") for name in queries)])
        scores.write(f"{hit['_score']!r}\\n")
print(f"{len(ranked)} documents")
'''
