"""Takes what an endpoint is told: checks who sent it, and prints it. CARILLON_ENDPOINT_SECRET is the endpoint's secret."""

import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

WEBHOOK = Webhook(os.environ["CARILLON_ENDPOINT_SECRET"])


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            event = WEBHOOK.verify(body, dict(self.headers))
        except WebhookVerificationError:
            return self.answer(400)
        print(self.headers["webhook-id"], event["type"], event["carillon"]["attempt"], flush=True)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
