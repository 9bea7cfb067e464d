"""Query templates: how Elasticsearch and OpenSearch compute each feature, from the queries given or as placeholders."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from rankinite.errors import ArgumentError, quoted
from rankinite.serving.plan import ExportPlan

WORDS = "keywords"
"""The parameter of placeholders: the words that a user searches for."""
KEYS = {"params", "template_language", "template"}
"""What a whole definition of a feature has."""
NAMES = r"[^\x00-\x1f\x7f\ud800-\udfff]{1,400}"
"""Names of features that Elasticsearch and OpenSearch can hold."""
FILLED_IN = """
# Placeholders are valid queries that match nothing: features would silently be missing.
if left="$(grep -o -e '"FIELD_OF_[^"\\]*\\(\\\\.[^"\\]*\\)*" *:' -e '"\\([^"]*\\)" *: *"VALUE_OF_\\1"' FILE)"; then
    echo "FILE has placeholders. Put fields, and values for a test, in their places:" >&2
    echo "$left" >&2
    exit 1
fi
"""
"""Part of upload.sh: refuses to go on while FILE has placeholders."""
_VARIABLE = re.compile(r"\{\{\{?\s*[#^/&]?\s*([\w.]+)\s*\}?\}\}")
_FUNCTIONS = {"toJson", "join", "url"}
"""Sections of templates that are functions and no parameters."""


def feature_definition(plan: ExportPlan, name: str) -> dict[str, Any]:
    """A feature of a feature set: its parameters and its template.

    What was given is a query, or a whole definition with a ``template`` and perhaps ``params`` and ``template_language``.
    """
    given = plan.feature_queries.get(name, placeholder(name))
    query = dict(cast("Mapping[str, Any]", given)) if isinstance(given, Mapping) else {}
    whole = query if "template" in query else {"template": query}
    if not query or set(whole) - KEYS:
        raise ArgumentError(
            f"has no query for {name!r} but {quoted(given)}",
            setting="feature_queries",
            value=given,
            rule="A feature is a query, which is an object of JSON, or a template, perhaps with params and template_language",
            remedy='Give for example {"match": {"title": "{{keywords}}"}}',
        )
    params = sorted(parameters_in(whole["template"]))
    return {"name": name, "params": params, "template_language": "mustache", **whole}


def placeholder(name: str) -> dict[str, Any]:
    """A query that matches nothing until someone puts the right field into it."""
    return {"match": {f"FIELD_OF_{name}": f"{{{{{WORDS}}}}}"}}


def parameters_in(template: object) -> set[str]:
    """The parameters that a template asks for."""
    text = template if isinstance(template, str) else json.dumps(template)
    return {found.split(".")[0] for found in _VARIABLE.findall(text)} - _FUNCTIONS


def parameters_of(plan: ExportPlan) -> dict[str, str]:
    """All parameters of the features, with a text to put in the value's place."""
    names = {name for feature in plan.names for name in feature_definition(plan, feature)["params"]}
    return {name: f"VALUE_OF_{name}" for name in sorted(names or {WORDS})}


def first_pass(params: Mapping[str, str]) -> dict[str, Any]:
    """A first query whose best documents are ranked anew."""
    return {"match": {"FIELD": params.get(WORDS, next(iter(params.values())))}}


def as_json(content: object) -> bytes:
    """Content as a file of JSON."""
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()
