"""Tokens as an app's back end makes them for its signed-in users."""

import base64
import hashlib
import hmac
import json
import time


def part(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def user_token(network, user, seconds=3600):
    """A token that ends in so many seconds."""
    claims = {"sub": user, "aud": f"carillon:{network.id}", "exp": int(time.time()) + seconds}
    signed = ".".join(part(json.dumps(each).encode()) for each in [{"alg": "HS256", "typ": "JWT"}, claims])
    return f"{signed}.{part(hmac.digest(network.user_token_secret.encode(), signed.encode(), hashlib.sha256))}"
