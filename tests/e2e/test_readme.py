"""What the README and the banner promise, run as they are printed."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess

import pytest

from tests.e2e.conftest import Server

pytestmark = pytest.mark.e2e


def curl_lines(banner: str) -> list[str]:
    return [line.strip() for line in banner.splitlines() if line.strip().startswith("curl ")]


def test_banner_has_three_curl_lines(server: Server) -> None:
    assert len(curl_lines(server.banner)) == 3


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("number", [0, 1, 2])
def test_each_curl_line_of_the_banner_answers(server: Server, number: int) -> None:
    command = shlex.split(curl_lines(server.banner)[number])
    done = subprocess.run([*command, "--fail"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


def test_a_german_question_finds_other_languages(server: Server) -> None:
    answer = server.client.get(
        "/similar",
        params={"q": "Warum verstimmt sich meine Gitarre?", "k": 5, "languages": "en,fr,ja"},
    )
    hits = answer.json()
    assert {hit["language"] for hit in hits[:3]} == {"en", "fr", "ja"}
    assert all(hit["metadata"]["statement"] == "music-22" for hit in hits[:3])


def test_the_openapi_page_is_there(server: Server) -> None:
    assert server.client.get("/docs").status_code == 200
    assert re.match(r"3\.", server.client.get("/openapi.json").json()["openapi"])
