#!/usr/bin/env python3
"""Makes the pictures of the console that the README shows, from a service that is filled with an example.

    python3 Tests/Console/screenshots.py [PROGRAM]    # into docs/images; PROGRAM: .build/debug/carillon, unless given
"""

import datetime
import io
import json
import math
import pathlib
import random
import sys
import uuid

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parent.parent / "Interop")]

from PIL import Image  # noqa: E402
from playwright.sync_api import expect  # noqa: E402

import console  # noqa: E402
import example  # noqa: E402
from service import ROOT  # noqa: E402
from stage import settled, visit  # noqa: E402

FOLDER = ROOT / "docs/images"
WIDTH, HEIGHT, COLOURS = 1440, 900, 128
MOST_BYTES = 150_000
MINUTES = 60


def figures(chance, load):
    """What a busy minute came to, as the service writes it down."""
    messages = max(1, round(load * chance.uniform(0.8, 1.2)))
    joined = chance.choice([0, 0, 1, 2])
    people = messages * 9
    notified = round(people * chance.uniform(0.7, 0.8))
    user, channel = round(people * 0.12), round(people * 0.06)
    apns, fcm, web = round(notified * 0.52), round(notified * 0.36), round(notified * 0.15)
    return {
        "e": {"message.sent": [messages, 0], "member.joined": [joined, 0], "channel.created": [chance.choice([0, 0, 0, 1]), 0]},
        "r": {
            "chat message.sent": [notified, people - notified - user - channel, 0, 0, user, channel],
            "chat member.joined": [0, 0, 0, joined * 7, 0, 0],
        },
        "d": {
            "apns": [apns, chance.choice([0, 0, 1]), 0, 0, chance.choice([0, 0, 2])],
            "fcm": [fcm, chance.choice([0, 1]), 0, 0, 0],
            "webpush": [web, chance.choice([0, 0, 2]), 0, 0, 0],
        },
        "l": latencies(chance, notified),
    }


def latencies(chance, count):
    """So many hand-overs, most of them after a few milliseconds: pairs of a time and how often it was that."""
    slow = chance.randint(14, 40)
    return [[ms, max(1, round(count * share))] for ms, share in [(3, 0.1), (4, 0.45), (6, 0.3), (9, 0.12), (slow, 0.03)]]


def remember(service, network):
    """Writes down an hour that the service has not been there for."""
    chance = random.Random(7)
    now = datetime.datetime.now(datetime.timezone.utc).replace(second=0, microsecond=0)
    replica = uuid.UUID(int=chance.getrandbits(128))
    rows = []
    for minute in range(1, MINUTES):
        load = 40 + 25 * math.sin(minute / 9) + 12 * math.sin(minute / 2.3)
        at = (now - datetime.timedelta(minutes=minute)).isoformat()
        rows.append(f"('{network.id}', '{at}', '{replica}', {MINUTES - minute}, '{json.dumps(figures(chance, load))}')")
    service.query("INSERT INTO statistics_minutes (network_id, at, replica, number, figures) VALUES " + ", ".join(rows))


def take(page, name):
    """A picture of what is seen, in few colours: there are not many."""
    page.evaluate("document.activeElement.blur()")
    picture = Image.open(io.BytesIO(page.screenshot()))
    path = FOLDER / f"{name}.png"
    picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.relative_to(ROOT)}: {size} bytes")
    if size > MOST_BYTES:
        sys.exit(f"{path} is larger than {MOST_BYTES} bytes")


def photograph(stage):
    FOLDER.mkdir(parents=True, exist_ok=True)
    network = stage.network("acme", "Acme")
    remember(stage.service, network)
    example.fill(stage, network)
    page = stage.open("acme/overview", session=network, width=WIDTH, height=HEIGHT, reduced_motion="reduce")
    expect(page.get_by_role("table", name="Deliveries")).to_contain_text("APNs")
    take(page, "overview")
    visit(page, "/console/acme/switches")
    expect(page.get_by_text("would have stopped").first).to_be_visible()
    take(page, "switches")
    visit(page, "/console/acme/people/jonas?tab=why")
    page.get_by_label("In channel").fill("on-call")
    page.get_by_label("Who does it").fill("bob")
    page.get_by_label("Text", exact=True).fill("Disk alert on db-2, looking")
    expect(page.locator(".device-frame").first).to_contain_text("Disk alert on db-2, looking")
    expect(page.get_by_text("would not be notified")).to_be_visible()
    settled(page)
    take(page, "why")
    stage.clear()


if __name__ == "__main__":
    console.play(sys.argv[1] if len(sys.argv) > 1 else str(ROOT / ".build/debug/carillon"), photograph)
