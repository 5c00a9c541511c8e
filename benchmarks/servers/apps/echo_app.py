"""As little as a server can do: read the body, write as many bytes as a vector's JSON has.

python echo_app.py PORT
"""

import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn

ANSWER = b"[" + b"-0.01234567," * 389 + b"0]"  # the 4,670 bytes of a vector of 384 numbers
Message = MutableMapping[str, Any]


async def app(
    scope: Message,
    receive: Callable[[], Awaitable[Message]],
    send: Callable[[Message], Awaitable[None]],
) -> None:
    assert scope["type"] == "http", "it has no lifespan"
    while (await receive()).get("more_body"):
        pass
    headers = [
        (b"content-type", b"application/json"), (b"content-length", str(len(ANSWER)).encode())
    ]  # fmt: skip
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": ANSWER})


if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), log_level="warning", lifespan="off")
