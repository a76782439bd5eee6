#!/usr/bin/env python3
"""How much disk what is stored takes: the figures of docs/sizing.md.

Imports people with a device each and ten channels each, posts messages, and asks PostgreSQL how large the tables are with their indexes.

    python3 Benchmarks/disk.py [--users 20000] [--messages 5000] [PROGRAM]    # PROGRAM: .build/optimised/release/carillon
"""

import argparse
import concurrent.futures
import pathlib
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Tests/Interop"))
from service import Network, Service  # noqa: E402

# As in a chat: everybody is in ten channels of ten.
CHANNELS_OF_EACH = 10
SIZES = """
    SELECT coalesce(parent.relname, own.relname), sum(pg_total_relation_size(own.oid))::bigint
    FROM pg_class own LEFT JOIN pg_inherits i ON i.inhrelid = own.oid LEFT JOIN pg_class parent ON parent.oid = i.inhparent
    WHERE own.relkind = 'r' AND own.relnamespace = 'public'::regnamespace GROUP BY 1
"""


def people(count, device):
    """Lines of an import: everybody with a device, in channels of ten."""
    for number in range(count):
        yield {"user": {"id": f"user-{number}", "displayName": f"User {number}", "locale": "en"}}
        yield {"device": {"id": f"phone-{number}", "userId": f"user-{number}"} | device(number)}
        for channel in channels(number):
            yield {"member": {"channelId": channel, "userId": f"user-{number}"}}


def phone(number):
    """As long as Google's tokens are."""
    return {"provider": "fcm", "appId": "com.example.chat", "token": f"{number:08}:{'x' * 142}"}


def channels(number):
    return [f"channel-{number // 10 * CHANNELS_OF_EACH + other}" for other in range(CHANNELS_OF_EACH)]


def sizes(service):
    service.query("VACUUM")
    return {name: int(size) for name, size in (line.split("|") for line in service.query(SIZES).splitlines())}


def fill(network, count, device):
    lines = people(count, device)
    while batch := [line for _, line in zip(range(12_000), lines)]:
        network.load(*batch)


def grown(before, after):
    return {name: after[name] - before.get(name, 0) for name in after if after[name] > before.get(name, 0)}


def show(title, growth, count):
    print(f"{title}: {sum(growth.values()) / count:.0f} bytes")
    for name, size in sorted(growth.items(), key=lambda item: -item[1])[:6]:
        print(f"    {name:24} {size / count:8.1f}")


def messages(network, count, users):
    """Posts messages of 100 characters and waits until nothing is left to do."""
    def post(number):
        user = number * 37 % users
        network.say("Hello, this is a message of about a hundred characters, as people write them to each other in a chat.",
                    channels(user)[number % CHANNELS_OF_EACH], f"user-{user}", f"m-{number}")

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(post, range(count)))
    while int(network.service.query("SELECT (SELECT count(*) FROM inbox) + (SELECT count(*) FROM deliveries)")):
        time.sleep(0.1)
    # Outcomes are written a moment after the last was sent.
    while network.service.query("SELECT count(*) FROM events WHERE network_id = 'acme'") != str(count):
        time.sleep(0.1)


def main():
    parser = argparse.ArgumentParser(description="Measures bytes on disk.")
    parser.add_argument("program", nargs="?", default=str(ROOT / ".build/optimised/release/carillon"))
    parser.add_argument("--users", type=int, default=20_000)
    parser.add_argument("--messages", type=int, default=5_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        service = Service(options.program, folder, {})
        try:
            empty = sizes(service)
            print(f"an empty database: {sum(empty.values()) / 1e6:.1f} MB of tables")
            fill(Network(service, "phones"), options.users, phone)
            filled = sizes(service)
            show("a person with a phone, in ten channels", grown(empty, filled), options.users)
            # Of these the lines go to an output that is thrown away, and nothing waits for a credential.
            network, users = Network(service, "acme"), min(options.users, 2_000)
            fill(network, users, lambda number: {"provider": "log"})
            filled, started = sizes(service), time.monotonic()
            messages(network, options.messages, users)
            show(f"a message to nine people ({options.messages} in {time.monotonic() - started:.0f} s)",
                 grown(filled, sizes(service)), options.messages)
        finally:
            service.stop()


if __name__ == "__main__":
    main()
