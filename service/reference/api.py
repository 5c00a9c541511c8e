"""The page of addresses, from the OpenAPI document that the service itself gives."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from service.app import create_app
from service.reference.markdown import block, page, table
from service.settings import Settings

Schema = Mapping[str, Any]

_INTRODUCTION = """\
A running service shows the same at `/docs`, and as a document for tools at `/openapi.json`. Fields
marked * must be given; fields that are not known are ignored. Errors are RFC 9457
`application/problem+json` with the field at fault and a remedy; below `/v1` they have OpenAI's
shape."""


def api_page() -> str:
    """Return the page."""
    # The document does not depend on any setting; a model need not be there.
    document = create_app(Settings.model_construct(max_body_bytes=1)).openapi()
    parts = [_INTRODUCTION]
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            parts += _route(document, method, path, route)
    return page("API", *parts)


def _route(document: Schema, method: str, path: str, route: Schema) -> list[str]:
    parts = [f"## {method.upper()} {path}", route.get("description") or route["summary"]]
    content = route.get("requestBody", {}).get("content", {}).get("application/json")
    schema = _resolved(document, content["schema"]) if content else {}
    rows = [
        (_name(p["name"], p.get("required", False)), f"{_kind(p['schema'])} ({p['in']})",
         _said(p.get("description", ""), p["schema"]))
        for p in route.get("parameters", ())
    ] + _fields(document, schema)  # fmt: skip
    if rows:
        parts.append(table(("field", "type", "what"), rows))
    examples = schema.get("examples")
    if examples:
        named = {
            p["name"]: p["schema"]["examples"][0]
            for p in route.get("parameters", ())
            if p["in"] == "path"
        }
        parts.append(block(_curl(method, path.format(**named), examples[0]), "sh"))
    answers = [
        f"{status}: {said['description']}"
        for status, said in sorted(route["responses"].items())
        if status.startswith("2")
    ]
    return [*parts, "\n".join(f"- {answer}" for answer in answers)]


def _fields(document: Schema, schema: Schema, inside: str = "") -> list[tuple[str, str, str]]:
    """Return a row a field, each field that is an object followed by its own."""
    required = set(schema.get("required", ()))
    rows = []
    for name, field in schema.get("properties", {}).items():
        said = _said(field.get("description", ""), field)
        rows.append((_name(inside + name, name in required), _kind(field), said))
        for part in (field, *field.get("anyOf", ())):
            if "$ref" in part:
                rows += _fields(document, _resolved(document, part), f"{inside}{name}.")
    return rows


def _said(description: str, schema: Schema) -> str:
    default = schema.get("default")
    if not default:
        return description
    said = default if isinstance(default, str) else json.dumps(default)
    return f"{description}; {said} if left out"


def _resolved(document: Schema, schema: Schema) -> Schema:
    if "$ref" not in schema:
        return schema
    found: Schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found


def _name(name: str, required: bool) -> str:
    return f"`{name}`" + (" *" if required else "")


def _kind(schema: Schema) -> str:
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    for several in ("anyOf", "oneOf"):
        if several in schema:
            kinds = [_kind(part) for part in schema[several] if part.get("type") != "null"]
            return " or ".join(dict.fromkeys(kinds))
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return str(schema.get("type") or ("object" if "$ref" in schema else "any"))


def _curl(method: str, path: str, example: object) -> str:
    verb = "" if method == "post" else f" -X {method.upper()}"
    body = shlex.quote(json.dumps(example, ensure_ascii=False))
    return f"curl -s{verb} localhost:8000{path} -H 'content-type: application/json' \\\n  -d {body}"
