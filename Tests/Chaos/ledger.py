"""What has arrived, wherever it arrived."""

import collections
import json
from typing import NamedTuple

SERVICES = {"apns production": "apns", "fcm": "fcm", "web push": "webPush"}


class Copy(NamedTuple):
    at: float
    """When it arrived, in seconds since 1970."""
    id: str | None
    """By which whoever gets it can tell that it is the same."""
    service: str
    held: float = 0
    """For how long who took it kept the answer to themselves, in seconds."""


class Ledger:
    """Notifications that were taken, by network, event and address, and messages to endpoints."""

    def __init__(self):
        self.copies = collections.defaultdict(lambda: collections.defaultdict(list))
        self.refused = collections.Counter()
        self.networks = {}
        """Whose an address is: what other systems' clients send does not say."""

    def note(self, network, event, address, copy):
        self.copies[network][event, address].append(copy)

    def forget(self, network):
        self.copies.pop(network, None)
        self.networks = {address: owner for address, owner in self.networks.items() if owner != network}

    def note_push(self, line, at):
        """A line of the simulator's."""
        if line["status"] is None or not 200 <= line["status"] < 300:
            self.refused[line["service"]] += 1
            return
        payload = json.loads(line["payload"])
        data = payload.get("message", {}).get("data") or payload.get("data") or payload
        address = line["device"]
        network = data.get("networkId") or self.networks.get(address)
        event = data.get("eventId") or (data.get("event_id") and f"matrix:{data['event_id']}")
        if not event:
            event = f"alert:{payload.get('aps', {}).get('alert', {}).get('body')}"
        self.note(network, event, address, Copy(at, line["notificationId"], SERVICES[line["service"]]))

    def note_line(self, line, at):
        """A line of the `log` provider, which knows no id: event and device are all there is."""
        network = line["deviceId"].partition(".")[0]
        self.note(network, line["eventId"], f"log:{line['deviceId']}", Copy(at, None, "log"))
