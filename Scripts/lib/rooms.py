"""Checks that each folder of a module uses what stands before it and nothing that comes after it.

Goes by names: a type is declared in one folder, and every folder that mentions it must stand behind that one. A type that only its
file or another type can see is nobody else's.
"""

import pathlib
import re
import sys

# The folders of each module, in the order in which they may use each other; "." is what stands beside them all.
ROOMS = {
    # A page of recipients carries toggles and templates as they were at one moment, so its folder stands behind those of toggles
    # and rendering, although it is asked before them.
    "CarillonCore": [
        "JSON", "Integrations/Egress", "Values", "Plumbing/Scheduling", "Plumbing/Placements", "Plumbing/Announcements", "Plumbing/Journal",
        "Integrations/Dialects", "Administration/Accounts", "Flow/Toggles", "Flow/Rendering", "Integrations/Credentials",
        "Integrations/Faces", "Administration/Directory", "Integrations/Relay", "Plumbing/Statistics", "Flow/Inbox",
        "Plumbing/Observability", "Flow/Ingest", "Integrations/Polling", "Flow/Recipients", "Flow/Outbox", "Administration/Following",
        "Flow/Interception", "Flow/Fanout", "Administration/Explaining", "Flow/Sending", "Flow/Settling", "Placements",
    ],
    "CarillonDialects": [
        "Reading", "Amity", "CloudEvents", "CometChat", "Matrix", "Mattermost", "RocketChat", "Sendbird", "Stream", "TalkJS", ".",
    ],
    "CarillonEdge": ["Problems", "Rates", "Context", "Bodies", "Authentication", "Faces", "Middleware", "Server"],
    "CarillonFaces": ["Shared", "Ably", "Amity", "Buzz", "Matrix", "MobileFirst"],
    "CarillonHTTP": ["Problems", "Bodies", "Posts", "Console", "Controllers", "Dialects", "Intake", "Server"],
    "CarillonProviders": ["Support", "APNs", "FCM", "WebPush", "Webhook", "Relay", "Log", "Introspection"],
    "CarillonSimulator": [
        "Encoding", "Configuration", "Certificates", "Recording", "Server", "Behaviour", "APNs", "FCM", "WebPush", ".",
    ],
    "CarillonStore": [
        "Shared", "Clock", "Queues", "Announcements", "Sealing", "Journal", "Accounts", "Deliveries", "Feedback", "Credentials", "Directory", "Toggles",
        "Rendering", "Faces", "Ingest", "Recipients", "Outbox", "Relay", "Polling", "Statistics", "Following", "Placements", "Maintenance", "Moving",
    ],
    "CarillonTemplates": ["."],
    "CarillonTesting": ["Stores", ".", "Pipeline"],
    "EmbeddedPostgres": ["."],
    "Postgres": ["Errors", "Threading", "Coding", "Statements", "LibPQ", "Connection", "Pool"],
    "PushHTTP": ["Names", "HTTP"],
    "carillon": [
        "Process", "Configuration", "Observability", "Service", "Composition", "Doctor", "Import", "Demo", "Commands",
    ],
}
# The last of the core's folders that a module uses, where it is not to know the rest.
CORE_UP_TO = {"PushHTTP": "Plumbing/Scheduling"}
DECLARATION = re.compile(
    r"^( *)(?:@\w+ )*(?:(private|fileprivate|package|public) )?(?:final )?(?:indirect )?"
    r"(?:struct|class|enum|protocol|actor|typealias) (\w+)",
    re.MULTILINE,
)
GENERIC = re.compile(r"[<,]\s*(\w+)\s*:")
NOISE = re.compile(r'"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"|//[^\n]*')


def room_of(module: pathlib.Path, path: pathlib.Path, rooms: list[str]) -> str:
    parts = path.relative_to(module).parts[:-1]
    names = ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]
    return next((name for name in names if name in rooms), names[-1]) if names else "."


def read(module: pathlib.Path) -> dict[pathlib.Path, str]:
    return {path: NOISE.sub(" ", path.read_text()) for path in sorted(module.glob("**/*.swift"))}


def declarations(
    module: pathlib.Path, sources: dict[pathlib.Path, str], rooms: list[str]
) -> tuple[dict[str, str], dict[str, set[str]]]:
    """The folder of each type that others see, and the names of each folder's other types."""
    home: dict[str, str] = {}
    nested: dict[str, set[str]] = {}
    for path, text in sources.items():
        room = room_of(module, path, rooms)
        for indent, access, name in DECLARATION.findall(text):
            if indent or "private" in access:
                nested.setdefault(room, set()).add(name)
            else:
                home[name] = room
    return home, nested


def check(module: pathlib.Path, rooms: list[str]) -> list[str]:
    sources = read(module)
    unknown = sorted({room_of(module, path, rooms) for path in sources} - set(rooms))
    if unknown:
        return [f"{module.name}: these folders have no place in Scripts/lib/rooms.py: {', '.join(unknown)}"]
    home, nested = declarations(module, sources, rooms)
    wrong = []
    for path, text in sources.items():
        room = room_of(module, path, rooms)
        own = nested.get(room, set()) | set(GENERIC.findall(text))
        for name in sorted(set(re.findall(r"\b[A-Z]\w+", text)) - own):
            if name in home and rooms.index(home[name]) > rooms.index(room):
                wrong.append(f"{path.relative_to(module.parent)} uses {name} of {home[name]}, which comes after {room}")
    return wrong


def check_core(module: pathlib.Path, last: str) -> list[str]:
    core, rooms = module.parent / "CarillonCore", ROOMS["CarillonCore"]
    home, _ = declarations(core, read(core), rooms)
    permitted = rooms[: rooms.index(last) + 1]
    sources = read(module)
    own = {name for text in sources.values() for _, _, name in DECLARATION.findall(text)}
    return [
        f"{path.relative_to(module.parent)} uses {name} of the core's {home[name]}, which comes after {last}"
        for path, text in sources.items()
        for name in sorted(set(re.findall(r"\b[A-Z]\w+", text)) - own - set(GENERIC.findall(text)))
        if home.get(name, last) not in permitted
    ]


def main(sources: pathlib.Path) -> int:
    modules = [module for module in sorted(sources.iterdir()) if next(module.glob("**/*.swift"), None)]
    wrong = [f"{module.name} has no place in Scripts/lib/rooms.py" for module in modules if module.name not in ROOMS]
    for module in modules:
        wrong += check(module, ROOMS.get(module.name, []))
        if module.name in CORE_UP_TO:
            wrong += check_core(module, CORE_UP_TO[module.name])
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
