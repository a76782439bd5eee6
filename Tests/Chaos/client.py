"""HTTP requests, one connection each: what a kill leaves behind must not be taken for an answer to something else."""

import asyncio
import json
from typing import NamedTuple


class Lost(Exception):
    """No answer came: nobody knows whether what was asked for was done."""


class Answer(NamedTuple):
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body) if self.body else None

    @property
    def is_success(self):
        return 200 <= self.status < 300


async def read_head(reader):
    """The first line and the headers, by names in lower case; `None` where the connection is over."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    fields = (line.partition(":") for line in lines)
    return first, {name.strip().lower(): value.strip() for name, _, value in fields}


async def read_body(reader, headers):
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = b""
        while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readuntil(b"\r\n")
        return body
    if "content-length" in headers:
        return await reader.readexactly(int(headers["content-length"]))
    return b""


async def exchange(port, method, path, headers, body):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    try:
        head = {"host": f"127.0.0.1:{port}", "connection": "close", "content-length": str(len(body))} | headers
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items())]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        await writer.drain()
        first, found = await read_head(reader)
        status = int(first.split()[1])
        return Answer(status, found, b"" if status == 204 else await read_body(reader, found))
    finally:
        writer.transport.abort()


async def send(port, method, path, body=None, token=None, headers={}, patience=20):
    """Sends a request to a port of this machine: JSON, or lines of JSON where the body is a list of bytes."""
    lines = isinstance(body, bytes)
    content = body if lines else b"" if body is None else json.dumps(body).encode()
    fields = {"content-type": "application/x-ndjson" if lines else "application/json"}
    if token:
        fields["authorization"] = f"Bearer {token}"
    try:
        async with asyncio.timeout(patience):
            return await exchange(port, method, path, fields | headers, content)
    except (OSError, EOFError, asyncio.LimitOverrunError, TimeoutError) as error:
        raise Lost(repr(error)) from None
