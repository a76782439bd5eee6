"""What rounds have shown, as a table in Markdown."""

import collections
import json


def read(path):
    """The last word on each round, in the order of their seeds."""
    if not path.exists():
        return []
    rounds = [json.loads(line) for line in path.read_text().splitlines()]
    return sorted(
        {(found["seed"], found["instances"]): found for found in rounds}.values(), key=lambda found: found["seed"]
    )


def write(rounds):
    def total(name):
        return sum(found[name] for found in rounds)

    def highest(name):
        return max((found[name] for found in rounds), default=0)

    instances = sorted({found["instances"] for found in rounds})
    kinds = collections.Counter(name for found in rounds for name in found["faults"])
    lost = sum(1 for found in rounds for text in found["findings"] if text.startswith("LOST"))
    rows = [
        ("rounds", len(rounds)),
        ("instances", ", ".join(map(str, instances))),
        ("events accepted", f"{total('events'):,}"),
        ("notifications that arrived", f"{total('deliveries'):,}"),
        ("messages to endpoints", f"{total('messages'):,}"),
        ("rounds in which something was lost", lost),
        ("duplicates, all with the same id", f"{total('duplicates'):,}"),
        ("of them sent more than 250 ms before the kill of their sender", f"{total('late'):,}"),
        ("oldest duplicate before its kill", f"{highest('oldest') * 1000:.0f} ms"),
        ("longest until nothing was left", f"{highest('quiet'):.1f} s"),
        ("seconds a round", f"{total('seconds') / max(1, len(rounds)):.1f}"),
        (
            "seeds that found something",
            ", ".join(str(found["seed"]) for found in rounds if found["findings"]) or "none",
        ),
    ]
    lines = ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows), ""]
    lines += ["| fault | rounds |", "|---|---|", *(f"| `{name}` | {count} |" for name, count in sorted(kinds.items()))]
    findings = [(found["seed"], text) for found in rounds for text in found["findings"]]
    if findings:
        lines += ["", "| seed | what it found |", "|---|---|"]
        lines += [f"| {seed} | {text[:200].replace('|', '/')} |" for seed, text in findings]
    return "\n".join(lines)
