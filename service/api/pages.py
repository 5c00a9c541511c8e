"""The page at / and the one at /docs: plain files, nothing from elsewhere."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from starlette.responses import FileResponse, Response

from service.errors import NotFoundError

router = APIRouter(include_in_schema=False)

_WEB = Path(__file__).parent.parent / "web"
_ASSETS = {path.name: path for path in _WEB.iterdir() if path.suffix in (".css", ".js", ".svg")}
"""Only what lies there at start is served, by exact name: no path is ever made from a request."""

_PAGE_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-cache",
}


@router.get("/")
async def page() -> Response:
    """Give the search page."""
    return FileResponse(_WEB / "page.html", headers=_PAGE_HEADERS)


@router.get("/docs")
async def docs() -> Response:
    """Give the page that shows the OpenAPI document."""
    return FileResponse(_WEB / "docs.html", headers=_PAGE_HEADERS)


@router.get("/assets/{name}")
async def asset(name: str) -> Response:
    """Give a page's style or script."""
    if name not in _ASSETS:
        raise NotFoundError("There is no such file.", field="name", given=name)
    return FileResponse(_ASSETS[name], headers=_PAGE_HEADERS)


@router.get("/favicon.ico")
async def favicon() -> Response:
    """Spare browsers a 404."""
    return Response(status_code=204)
