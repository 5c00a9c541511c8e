"""GET /classifiers: which there are and what is known of them."""

from __future__ import annotations

from fastapi import APIRouter

from service.api.openapi import answer
from service.api.responses import Json
from service.api.schemas.classify import ClassifierAnswer, ClassifiersAnswer
from service.api.state import Loaded
from service.classification.head import Head

router = APIRouter(prefix="/classifiers", tags=["classify"])


@router.get("", responses=answer(ClassifiersAnswer, "All classifiers"))
async def list_classifiers(resources: Loaded) -> Json:
    """List the classifiers."""
    return Json({"classifiers": [_describe(head) for head in resources.classifiers.list()]})


@router.get("/{name}", responses=answer(ClassifierAnswer, "The classifier"))
async def describe_classifier(name: str, resources: Loaded) -> Json:
    """Describe one classifier."""
    return Json(_describe(resources.classifiers.get(name)))


def _describe(head: Head) -> dict[str, object]:
    manifest = head.manifest.model_dump(mode="json")
    return {name: manifest[name] for name in ClassifierAnswer.model_fields}
