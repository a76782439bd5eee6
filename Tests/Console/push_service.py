"""A browser vendor's push service and a browser's subscription to it, whose keys are known here.

A headless browser has no push service: what it would be sent is kept here as it came, read with a library that others
wrote (PyPI: http-ece, RFC 8291), and handed to the browser by its debugging protocol.
"""

import base64
import http.server
import os
import queue
import threading

import http_ece
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec


def encode(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class PushService:
    """Takes messages on a free port of this machine."""

    def __init__(self):
        self.messages = queue.Queue()
        self.status = 201
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                complete = {"ttl", "authorization", "content-encoding"} <= {name.lower() for name in self.headers}
                status = service.status if complete else 400
                if status == 201:
                    service.messages.put((self.path, body))
                self.send_response(status)
                self.send_header("location", f"{service.origin}/message/{service.messages.qsize()}")
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Receiver:
    """A server of the network's own: takes what endpoints are told, and has nothing new where it is asked as a source."""

    def __init__(self):
        self.status = self.poll_status = 204
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers.get("content-length", 0)))
                self.answer(receiver.status)

            def do_GET(self):
                self.answer(receiver.poll_status)

            def answer(self, status):
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/carillon"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Subscription:
    """What a browser subscribes with."""

    def __init__(self, origin, name="browser"):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.auth = os.urandom(16)
        point = self.key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        self.endpoint = f"{origin}/push/{name}"
        self.json = {"endpoint": self.endpoint, "keys": {"p256dh": encode(point), "auth": encode(self.auth)}}

    def read(self, body):
        """The text of an encrypted message."""
        return http_ece.decrypt(body, private_key=self.key, auth_secret=self.auth, version="aes128gcm").decode()
