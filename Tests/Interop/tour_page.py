#!/usr/bin/env python3
"""Plays docs/tour.md: every command on it, in one shell and in order, against a service; what comes out and what is left is looked at.

    python3 Tests/Interop/tour_page.py [PROGRAM]    # PROGRAM: .build/debug/carillon, unless given
"""

import json
import subprocess
import sys

from pages import Page
from playing import equal, eventually, perform, program_argument, stage
from service import Refused

MARK = "--- the next block"


class Tour:
    """Somebody's shell in a folder of theirs, where their service keeps its token."""

    def __init__(self, played):
        self.played, self.folder = played, played.folder / "shell"
        (self.folder / ".carillon").mkdir(parents=True)
        self.given = {
            ".carillon/operator-token": played.service.token,
            "AuthKey_ABC123DEFG.p8": played.simulator.credential("apns")["privateKey"],
            "service-account.json": json.dumps(played.simulator.credential("fcm")["serviceAccount"]),
        }
        for name, content in self.given.items():
            (self.folder / name).write_text(content)
        # The first block starts the service, which is here already.
        _, *blocks = Page("tour.md").code("sh")
        self.blocks = [block.replace("http://127.0.0.1:8080/", f"{played.service.address}/") for block in blocks]

    def answer(self, part):
        """What was said after the block that has a part."""
        return next(said for block, said in zip(self.blocks, self.said, strict=True) if part in block)


def every_command_works_as_it_stands(tour):
    assert tour.blocks[0].startswith(f"api={tour.played.service.address}/v1/networks\n"), tour.blocks[0]
    script = f"echo '{MARK}'\n".join(tour.blocks)
    ended = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=tour.folder, capture_output=True, text=True)
    assert ended.returncode == 0 and "/problems/" not in ended.stdout, f"{ended.stdout}\n{ended.stderr}"
    tour.said = ended.stdout.split(f"{MARK}\n")


def the_message_reaches_those_who_were_not_its_sender(tour):
    lines = eventually("bob's line", lambda: [
        line for line in map(json.loads, (tour.played.folder / "output").read_text().splitlines())
        if line["title"] == "Alice (General)" and line["body"] == "Hello"
    ])
    equal("told", {line["userId"] for line in lines} <= {"bob", "carol"}, True)


def questions_are_answered(tour):
    equal("what became of it", json.loads(tour.answer("sourceId=evt-3"))["items"][0]["type"], "message.sent")
    explained = json.loads(tour.answer("/explain"))
    equal("why carol is not told", explained.get("decidedBy"), "channel")


def nothing_is_left_behind(tour):
    left = {str(path.relative_to(tour.folder)) for path in tour.folder.rglob("*") if path.is_file()}
    equal("files", left, set(tour.given))
    try:
        tour.played.service.call("GET", "/v1/networks/acme")
    except Refused as refused:
        equal("the network", refused.status, 404)
    else:
        raise AssertionError("the network is still there")


ACTS = [
    every_command_works_as_it_stands, the_message_reaches_those_who_were_not_its_sender, questions_are_answered, nothing_is_left_behind,
]


def main():
    program = program_argument()
    with stage(program) as played:
        # The stage's own network has the name that the page's gets.
        played.service.call("DELETE", "/v1/networks/acme")
        return perform(ACTS, Tour(played))


if __name__ == "__main__":
    sys.exit(main())
