"""Companions of a model for Solr: upload, request, check."""

from __future__ import annotations

import json
import re
from typing import Any

from rankinite.serving.plan import ExportPlan
from rankinite.serving.target import Files

MODEL, FEATURES, WRAPPER = "model.json", "features.json", "wrapper.json"


def wrapper_of(plan: ExportPlan) -> dict[str, Any]:
    """The entry that stands for a model in a file of every node."""
    kind = "org.apache.solr.ltr.model.DefaultWrapperModel"
    return {"store": plan.name, "name": plan.name, "class": kind, "params": {"resource": f"{plan.name}.json"}}


def companions_of(plan: ExportPlan) -> Files:
    """Scripts and a request."""
    return {
        "upload.sh": UPLOAD.replace("NAME", plan.name).encode(),
        "query.json": json.dumps(request_of(plan), indent=1, ensure_ascii=False).encode() + b"\n",
        "check.py": CHECK.replace("NAME", plan.name).encode(),
    }


def request_of(plan: ExportPlan) -> dict[str, Any]:
    """A request that scores the first hundred documents again and logs their features."""
    wanted = dict.fromkeys(re.findall(r"\$\{([A-Za-z0-9_]+)", json.dumps(dict(plan.feature_queries))))
    external = "".join(f" efi.{name}='…'" for name in wanted)
    return {
        "query": "…",
        "limit": 10,
        "fields": ["id", "score", f"[features store={plan.name}]"],
        "params": {"rq": f"{{!ltr model={plan.name} reRankDocs=100{external}}}"},
    }


UPLOAD = """#!/bin/sh
# Uploads the features and the model: COLLECTION=products ./upload.sh
# ENGINE: where Solr is. RELOAD: for a Solr without ZooKeeper, "admin/cores?action=RELOAD&core=products".
set -eu
cd "$(dirname "$0")"
ENGINE="${ENGINE:-http://localhost:8983}"
COLLECTION="${COLLECTION:?give the name of the collection}"
RELOAD="${RELOAD:-admin/collections?action=RELOAD&name=$COLLECTION}"
schema="$ENGINE/solr/$COLLECTION/schema"

put() {
    curl --fail-with-body --silent --show-error -X PUT -H 'Content-Type: application/json' --data-binary "@$2" "$schema/$1"
}

# Solr changes nothing in place, so an earlier model of this name goes first, and its features after it.
for old in model-store/NAME feature-store/NAME; do
    curl --silent --output /dev/null -X DELETE "$schema/$old" || true
done
put feature-store features.json
if [ -e wrapper.json ]; then put model-store wrapper.json; else put model-store model.json; fi
curl --fail-with-body --silent --show-error "$ENGINE/solr/$RELOAD"
"""

CHECK = '''"""Scores of the sample by Solr: COLLECTION=products python check.py, then: rankinite check . --scores served.txt

A second model, NAME_check, is uploaded, whose features are values given with the request; it is deleted in the end. The
collection must hold a document. Environment: ENGINE, where Solr is; COLLECTION; RELOAD as for upload.sh.
"""

import csv
import json
import os
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

collection = os.environ["COLLECTION"]
engine = os.environ.get("ENGINE", "http://localhost:8983") + "/solr/"
reload = os.environ.get("RELOAD", f"admin/collections?action=RELOAD&name={collection}")
name = "NAME_check"


def call(method, path, body=None, kind="application/json"):
    """The answer to a request."""
    request = Request(engine + path, data=body, method=method, headers={"Content-Type": kind})
    with urlopen(request) as answer:
        return json.load(answer)


def delete():
    """Delete the model of the check and its features, where they are there."""
    for store in ("model-store", "feature-store"):
        try:
            call("DELETE", f"{collection}/schema/{store}/{name}")
        except HTTPError:
            pass


def value(number, feature):
    """A feature whose value is given as x0, x1, …; what is not given is missing."""
    if feature["class"].endswith(".ValueFeature") and feature["name"] not in head:
        return {**feature, "store": name}
    params = {"value": "${x%d}" % number, **{key: entry for key, entry in feature["params"].items() if key == "defaultValue"}}
    return {"store": name, "name": feature["name"], "class": "org.apache.solr.ltr.feature.ValueFeature", "params": params}


with open("sample.csv", newline="") as lines:
    head, *rows = csv.reader(lines)
with open("features.json") as file:
    features = json.load(file)
with open("model.json") as file:
    model = {**json.load(file), "name": name, "store": name}

delete()
places = {feature["name"]: number for number, feature in enumerate(features)}
values = [value(number, feature) for number, feature in enumerate(features)]
call("PUT", f"{collection}/schema/feature-store", json.dumps(values).encode())
call("PUT", f"{collection}/schema/model-store", json.dumps(model).encode())
call("GET", reload)
with open("served.txt", "w") as served:
    for row in rows:
        given = "".join(f" efi.x{places[column]}={entry}" for column, entry in zip(head, row) if entry)
        asked = {"q": "*:*", "rows": 1, "fl": "score", "rq": "{!ltr model=%s reRankDocs=1%s}" % (name, given)}
        answer = call("POST", f"{collection}/select", urlencode(asked).encode(), "application/x-www-form-urlencoded")
        print(answer["response"]["docs"][0]["score"], file=served)
delete()
'''
