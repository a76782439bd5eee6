"""A web app of another origin that uses Clients/web/carillon.js as it is: a page and its service worker."""

import http.server
import pathlib
import threading

MODULE = pathlib.Path(__file__).parent.parent.parent / "Clients/web/carillon.js"
PAGE = """<!doctype html><html lang="en"><title>Chat</title><link rel="icon" href="data:,"><h1>Chat</h1>
<script type="module">
import * as carillon from "/carillon.js";
window.carillon = carillon;
document.querySelector("h1").textContent = location.pathname + location.hash;
</script></html>"""
WORKER = """import { showPushes } from "/carillon.js";
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
showPushes({
  title: "Chat",
  icon: "/icon.png",
  group: ({ eventType, channelId }) => eventType === "message.sent" ? `channel:${channelId}` : null,
  compose: ({ body }, count) => count > 1 ? { body: `${body} (${count} new)` } : undefined,
  address: ({ channelId, messageId }) => channelId ? `/channels/${encodeURIComponent(channelId)}#${messageId ?? ""}` : "/",
});
"""


class WebApp:
    """Serves the app on a free port: the same page at every address."""

    def __init__(self):
        files = {
            "/carillon.js": ("text/javascript", MODULE.read_text()),
            "/worker.js": ("text/javascript", WORKER),
            "/broken.js": ("text/javascript", "throw new Error('broken')"),
        }

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                kind, text = files.get(self.path.partition("?")[0], ("text/html", PAGE))
                body = text.encode()
                self.send_response(200)
                self.send_header("content-type", f"{kind}; charset=utf-8")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
