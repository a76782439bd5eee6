"""Requests as somebody else's client makes them: headers and bodies as they are, answers whatever their status."""

import base64
import json
import urllib.error
import urllib.parse
import urllib.request


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirects)


def ask(address, method, path, body=None, headers=None):
    """Answers the status, and what the body says as JSON; text is sent as a form, bytes as they are."""
    data = body.encode() if isinstance(body, str) else body
    if not isinstance(data, (bytes, type(None))):
        data = json.dumps(data).encode()
    kind = "application/x-www-form-urlencoded" if isinstance(body, str) else "application/json"
    request = urllib.request.Request(
        address + path, method=method, data=data, headers={"content-type": kind} | (headers or {})
    )
    try:
        with OPENER.open(request, timeout=30) as answer:
            return answer.status, parsed(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, parsed(error.read())


def parsed(text):
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text.decode(errors="replace")


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def basic(name, secret):
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{secret}".encode()).decode()}


def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def token(claims, sign, algorithm):
    """A JWT; `sign` makes the signature of a text."""
    head = base64url(json.dumps({"alg": algorithm, "typ": "JWT"}).encode())
    text = f"{head}.{base64url(json.dumps(claims).encode())}"
    return f"{text}.{base64url(sign(text.encode()))}"
