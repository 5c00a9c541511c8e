"""/classifiers: which there are, what is known of them, their versions; fits are beside this."""

from __future__ import annotations

from fastapi import APIRouter, Response
from pydantic import JsonValue

from service.api.auth import needs
from service.api.openapi import answer
from service.api.responses import Json
from service.api.schemas.classifiers import ClassifierAnswer, ClassifiersAnswer
from service.api.work import WorkOf
from service.classification.classifiers import Classifiers
from service.classification.head import Head
from service.security.grants import Scope

router = APIRouter(prefix="/classifiers", tags=["classify"])

_AS_IN_THE_MANIFEST = (
    "name", "version", "description", "labels", "multi_label", "unknown_threshold", "space",
    "encoder", "dimension", "document", "by_label", "described", "report", "quality", "limits",
    "licence", "created",
)  # fmt: skip


@router.get("", responses=answer(ClassifiersAnswer, "All classifiers"))
@needs(Scope.EMBED)
async def list_classifiers(work: WorkOf) -> Json:
    """List the classifiers."""
    classifiers = work.resources.classifiers

    def described() -> list[dict[str, JsonValue]]:
        return [describe_classifier_head(head, classifiers) for head in classifiers.list()]

    return Json({"classifiers": await work.run(described)})


@router.get("/{name}", responses=answer(ClassifierAnswer, "The classifier"))
@needs(Scope.EMBED)
async def describe_classifier(name: str, work: WorkOf) -> Json:
    """Describe one classifier: its labels, versions, and held-out figures."""
    classifiers = work.resources.classifiers
    head = classifiers.get(name)
    return Json(await work.run(describe_classifier_head, head, classifiers))


@router.delete(
    "/{name}", status_code=204, response_class=Response, responses={204: {"description": "Gone"}}
)
@needs(Scope.ADMIN)
async def drop_classifier(name: str, work: WorkOf) -> Response:
    """Drop a classifier with all its versions."""
    await work.run(work.resources.classifiers.drop, name)
    work.metrics.forget_classifier(name)
    return Response(status_code=204)


@router.post(
    "/{name}/versions/{version}/activate", responses=answer(ClassifierAnswer, "The classifier")
)
@needs(Scope.ADMIN)
async def activate_version(name: str, version: int, work: WorkOf) -> Json:
    """Switch to another version, in one step."""
    classifiers = work.resources.classifiers
    head = await work.run(classifiers.activate, name, version)
    return Json(await work.run(describe_classifier_head, head, classifiers))


@router.delete(
    "/{name}/versions/{version}",
    status_code=204,
    response_class=Response,
    responses={204: {"description": "Gone"}},
)
@needs(Scope.ADMIN)
async def drop_version(name: str, version: int, work: WorkOf) -> Response:
    """Drop an old version."""
    await work.run(work.resources.classifiers.drop_version, name, version)
    return Response(status_code=204)


def describe_classifier_head(head: Head, classifiers: Classifiers) -> dict[str, JsonValue]:
    """Return a classifier as clients see it; blocks: its versions are read from the disk."""
    manifest = head.manifest.model_dump(mode="json")
    return {
        **{name: manifest[name] for name in _AS_IN_THE_MANIFEST},
        "kind": "pair" if head.takes_pairs else "text",
        "examples": head.manifest.examples,
        "versions": list(classifiers.versions(head.name)),
        "shipped": classifiers.is_given(head.name),
    }
