"""Unreadable files: models in forms that are not read here, recognised so that the user learns what to do instead.

A form is recognised by the first bytes of a file, or, where these are those of any JSON object, by what the object has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from rankinite.errors import DataError

XGBOOST_SAVE = 'Save the model with Booster.save_model("model.json"), whose files have all digits and the base score'
SAVES = {
    "lightgbm": ("LightGBM", 'save_model("model.txt")', "model.txt"),
    "xgboost": ("XGBoost", 'save_model("model.json")', "model.json"),
    "catboost": ("CatBoost", 'save_model("model.json", format="json")', "model.json"),
}
"""Module of a library → its name, the call that saves a model in a form that is read here, and the name of the file."""
OTHER_FORMAT = "Load it with the library that wrote it and save it in that library's own format: " + ", ".join(
    f"{library}'s {save}" for library, save, _ in SAVES.values()
)


@dataclass(frozen=True)
class Unreadable:
    """A form of models that is not read."""

    what: str
    """What the file is."""
    remedy: str
    """What to do instead."""
    beginning: str = ""
    """A pattern that the first bytes match, as Latin-1."""
    entries: tuple[str, ...] = ()
    """What a JSON object of this form has: names, or as in ``model.definition`` the name of what an entry has."""
    rule: str = ""
    """Why it is not read."""

    def error(self) -> DataError:
        """The answer to the user."""
        return DataError(f"this is {self.what}", value=self.what, rule=self.rule, remedy=self.remedy)


UNREADABLE = (
    Unreadable(
        "a Python pickle, as pickle and joblib write",
        OTHER_FORMAT,
        r"\x80[\x01-\x05]|c[\w.]+\n[\w.]+\n[pq(]|\([dlt]p\d+\n|[\]})]q\x00|x[\x01\x9c\xda]|x\x5e.{0,16}?[\x00-\x08\x80-\xff]",
        rule="Pickles are never read, because reading one runs the code in it",
    ),
    Unreadable(
        "CatBoost's binary format", 'Load it with CatBoost and save it with save_model("model.json", format="json")', "CBM1"
    ),
    Unreadable("a text dump of XGBoost's trees", XGBOOST_SAVE, r"booster\[\d+\]|0:(\[[^\]]*\] yes=|leaf=)"),
    Unreadable(
        "XGBoost's former binary format",
        'Load it with XGBoost before version 3.1, and save it with Booster.save_model("model.json")',
        "binf|bs64",
    ),
    Unreadable(
        "a JSON dump of XGBoost's trees, as Elasticsearch's xgboost+json is", XGBOOST_SAVE, r"\s*\[\s*\{\s*\"(nodeid|leaf)\""
    ),
    Unreadable("a JSON dump of XGBoost's trees, as Elasticsearch's xgboost+json is", XGBOOST_SAVE, entries=("splits",)),
    Unreadable(
        "what LightGBM's dump_model returns", 'Save the model with Booster.save_model("model.txt")', entries=("tree_info",)
    ),
    Unreadable(
        "a list of JSON objects", "If these are models of Solr, save the object of one of them as a file", r"\s*\[\s*\{"
    ),
    Unreadable("Solr's answer with all its models", "Save the object of one of the models as a file", entries=("models",)),
    *(
        Unreadable(
            "a model of Elasticsearch's or OpenSearch's learning to rank, in the form that is uploaded",
            "Save the text of its definition as a file, if its type is model/ranklib; else import the model it was made from",
            entries=(name,),
        )
        for name in ("model.model", "model.definition")
    ),
    *(
        Unreadable("a trained model of Elasticsearch", "Import the model it was made from", entries=(name,))
        for name in ("definition", "compressed_definition", "trained_model", "trained_model_configs")
    ),
    Unreadable(
        "a PMML document",
        "Import the model it was made from, or convert that to ONNX",
        r"\s*(<\?xml[^>]*\?>)?\s*(<!--.*?-->\s*)*<PMML",
    ),
    Unreadable(
        "RankLib's XML without its first lines",
        "Write the name of the learner into a first line, as in ## LambdaMART",
        r"\s*(<\?xml[^>]*\?>)?\s*<ensemble",
    ),
    Unreadable("a ranking expression, as Vespa has", "Import the model it was made from", r"\s*if\s*\("),
    Unreadable("an HDF5 file, as Keras writes", "Score with its library and give the scores as a file", r"\x89HDF"),
)
"""All forms that are recognised; the first that fits is meant."""
_PATTERNS = [(re.compile(form.beginning, re.DOTALL), form) for form in UNREADABLE if form.beginning]


def refuse_live_model(model: object) -> None:
    """Refuse a model of another library that is in memory, not in a file."""
    library = next((one for kind in type(model).__mro__ if (one := kind.__module__.partition(".")[0]) in SAVES), None)
    if library is not None:
        kind, (maker, save, file) = type(model).__name__, SAVES[library]
        inner = "booster_." if hasattr(type(model), "booster_") else ""  # LightGBM's estimators cannot save themselves
        raise DataError(
            f"a {kind} of {maker} is not the path of a model file",
            value=kind,
            remedy=f"Save it with model.{inner}{save}, and load {file!r}",
        )


def unreadable_bytes(beginning: bytes) -> Unreadable | None:
    """The form of a file with this beginning; None: it is not known."""
    text = beginning.decode("latin-1")
    return next((form for pattern, form in _PATTERNS if pattern.match(text)), None)


def unreadable_object(model: Mapping[str, Any]) -> Unreadable | None:
    """The form of a JSON object; None: it is not known."""
    return next((form for form in UNREADABLE if form.entries and all(_has(model, path) for path in form.entries)), None)


def _has(model: Any, path: str) -> bool:
    """Whether an object has an entry, or, behind a full stop, one in the object that this is."""
    name, _, rest = path.partition(".")
    inside: Any = cast("dict[str, Any]", model) if isinstance(model, dict) else {}
    return name in inside and (not rest or _has(inside[name], rest))
