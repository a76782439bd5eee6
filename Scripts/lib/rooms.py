"""Checks that a stage's folder in CarillonCore uses what stands before it and nothing that comes after it.

Goes by names: a type is declared in one folder, and every folder that mentions it must stand behind that one.
"""

import pathlib
import re
import sys

# What may be used by all, then the way of an event. A page of recipients carries toggles and templates as they were at one
# moment, so the folder stands behind those of toggles and rendering, although it is asked before them.
ROOMS = [
    "JSON", "Egress", "Model", "Scheduling", "Announcements", "Journal", "Observability", "Dialects", "Accounts", "Toggles", "Rendering",
    "Credentials", "Faces", "Directory", "Relay", "Statistics", "Inbox", "Ingest", "Polling", "Recipients", "Outbox", "Following", "Fanout", "Explaining", "Sending",
    "Settling",
]
# Counts what stages hand it; uses their values and nothing of their work.
EXEMPT = {"Observability", "Following"}
DECLARATION = re.compile(
    r"^(?:package |private |fileprivate |public )?(?:final )?(?:indirect )?"
    r"(?:struct|class|enum|protocol|actor|typealias) (\w+)",
    re.MULTILINE,
)
GENERIC = re.compile(r"[<,]\s*(\w+)\s*:")
NOISE = re.compile(r'"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"|//[^\n]*')


def main(core: pathlib.Path) -> int:
    folders = {path.name for path in core.iterdir() if path.is_dir()}
    unknown = sorted(folders - set(ROOMS))
    if unknown:
        print("these folders have no place in Scripts/lib/rooms.py:", ", ".join(unknown))
        return 1
    sources = {path: NOISE.sub(" ", path.read_text()) for path in sorted(core.glob("*/**/*.swift"))}
    home: dict[str, str] = {}
    for path, text in sources.items():
        for name in DECLARATION.findall(text):
            home[name] = path.relative_to(core).parts[0]
    wrong = []
    for path, text in sources.items():
        room = path.relative_to(core).parts[0]
        if room in EXEMPT:
            continue
        for name in sorted(set(re.findall(r"\b[A-Z]\w+", text)) - set(GENERIC.findall(text))):
            if name in home and ROOMS.index(home[name]) > ROOMS.index(room):
                wrong.append(f"{path.relative_to(core)} uses {name} of {home[name]}, which comes after {room}")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
