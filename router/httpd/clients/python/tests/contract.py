"""Answers, checked against the gateway's own description of them."""

from __future__ import annotations

from typing import Any

import httpx
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

DOCUMENT = "urn:openapi"


class Contract:
    """An OpenAPI 3.1 document."""

    def __init__(self, document: Any) -> None:
        assert document["openapi"].startswith("3.1"), document
        self._document = document
        self._registry: Any = Registry().with_resource(DOCUMENT, Resource.from_contents(document, default_specification=DRAFT202012))
        self.checked: set[tuple[str, int]] = set()

    def check(self, response: httpx.Response) -> None:
        """Fails when the answer is not one that the document describes."""
        response.read()
        path, method = response.request.url.path, response.request.method.lower()
        at = f"#/paths/{path.replace('/', '~1')}/{method}/responses"
        described = self._document["paths"][path][method]["responses"]
        status = str(response.status_code)
        assert status in described, f"{method} {path} answers {status}, which is not described: {response.text}"
        answer = described[status]
        at = answer.get("$ref", f"{at}/{status}")
        schema = {"$ref": f"{DOCUMENT}{at}/content/application~1json/schema"}
        Draft202012Validator(schema, registry=self._registry).validate(response.json())
        self.checked.add((path, response.status_code))
