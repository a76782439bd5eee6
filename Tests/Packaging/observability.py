"""Holds the alerts, the dashboard and the manual against the metrics that the sources make.

What is looked at in an expression: that each metric is made, and by which name (a histogram's have _bucket, _sum and
_count); that each label is one the manual's table gives it; that each value asked for stands in the metric's row.
"""

import json
import pathlib
import re

import yaml

ROOT = pathlib.Path(__file__).parent.parent.parent
RULES = ROOT / "packaging/prometheus/carillon.rules.yaml"
DASHBOARD = ROOT / "packaging/grafana/carillon.json"
MANUAL = ROOT / "docs/operating.md"
HELP = ROOT / "Sources/carillon/Observability/MetricHelp.swift"
NAME = r"(?:carillon|process)_[a-z_]+"
# Given to every series by the scrape, and to buckets by their kind.
COMMON_LABELS = {"job", "instance", "le"}
# What the table does not spell out.
VALUES = {"provider": {"apns", "fcm", "log", "webhook", "webpush"}, "circuit": {"open", "closed"}}
# Made when something happens for the first time.
LATE = {
    "carillon_interceptions_total", "carillon_interception_seconds", "carillon_relay_age_seconds",
    "carillon_metric_series_dropped_total",
}


def sources():
    """The metrics' names in the program, and which of them are histograms."""
    names, histograms = set(), set()
    for path in (ROOT / "Sources").rglob("*.swift"):
        if path == HELP:
            continue
        text = re.sub(r"//.*", "", path.read_text())
        names |= set(re.findall(rf'"({NAME})"', text))
        histograms |= set(re.findall(rf'(?:Recorder|Timer)\(\s*label: "({NAME})"', text))
    return names, histograms


def manual():
    """The rows of the manual's table: each metric's labels, and the row's text."""
    rows = {}
    for line in MANUAL.read_text().splitlines():
        cells = line.split("|")
        if len(cells) > 2:
            for name, labels in re.findall(rf"`({NAME})(?:{{([^}}]*)}})?`", cells[1]):
                rows[name] = (set(filter(None, labels.split(","))), line)
    return rows


def alerts():
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def panels(items):
    for item in items:
        yield item
        yield from panels(item.get("panels", []))


def dashboard():
    """Titles and expressions of the dashboard."""
    board = json.loads(DASHBOARD.read_text())
    for panel in panels(board["panels"]):
        for target in panel.get("targets", []):
            yield f"panel {panel['title']}", target["expr"]
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            yield f"variable {variable['name']}", variable["query"]["query"]


def expressions():
    yield from ((f"alert {rule['alert']}", rule["expr"]) for rule in alerts())
    yield from dashboard()


def base(name, histograms):
    """The metric behind a name in an expression; None when it has no such name."""
    stem = re.sub(r"_(bucket|sum|count)$", "", name)
    if stem != name and stem in histograms:
        return stem
    return None if name in histograms else name


def problems_of(where, expression, names, histograms, rows, routes):
    # A value may hold braces, so that values go first.
    values = re.findall(r'"([^"]*)"', expression)
    bare = re.sub(r'"[^"]*"', '""', expression)
    taken = iter(values)
    seen = set()
    for token in re.finditer(rf"\b({NAME})\b(?:{{([^}}]*)}})?|(\w*)\s*\"\"", bare):
        metric = base(token[1], histograms) if token[1] else None
        if token[1] and metric not in names:
            yield f"{where}: there is no metric {token[1]}"
        for label, operator in re.findall(r"(\w+)\s*(=~|!=|!~|=)\s*\"\"", token[2] or ""):
            value = next(taken)
            if label in COMMON_LABELS or metric not in rows:
                continue
            if label not in rows[metric][0]:
                yield f"{where}: {metric} has no label {label}"
            for choice in value.split("|"):
                known = choice in VALUES.get(label, ()) or f"`{choice}`" in rows[metric][1] or choice in routes
                if not known and re.fullmatch(r"[a-zA-Z]*[a-z][a-zA-Z]*", choice):
                    yield f"{where}: {metric} has no {label} {choice} in the manual"
                if choice.startswith("/") and not known:
                    yield f"{where}: there is no route {choice}"
        if token[1]:
            seen.add(metric)
    allowed = COMMON_LABELS.union(*(rows[name][0] for name in seen if name in rows))
    for labels in re.findall(r"\b(?:by|on|without|ignoring)\s*\(([^)]*)\)", bare):
        for label in filter(None, (label.strip() for label in labels.split(","))):
            if label not in allowed:
                yield f"{where}: nothing there has the label {label}"


def problems():
    names, histograms = sources()
    told = set(re.findall(rf'"({NAME})":', HELP.read_text()))
    rows = manual()
    yield from (f"{name} has no text in MetricHelp" for name in sorted(names - told))
    yield from (f"MetricHelp knows {name}, which nothing makes" for name in sorted(told - names))
    yield from (f"docs/operating.md has no row for {name}" for name in sorted(names - set(rows)))
    yield from (f"docs/operating.md has a row for {name}, which nothing makes" for name in sorted(set(rows) - names))
    routes = set(re.findall(r"^  (/\S+):$", (ROOT / "openapi.yaml").read_text(), re.MULTILINE))
    for where, expression in expressions():
        yield from problems_of(where, expression, names, histograms, rows, routes)
    text = MANUAL.read_text()
    for rule in alerts():
        if not re.search(rf"^\| `{rule['alert']}` \|", text, re.MULTILINE):
            yield f"docs/operating.md does not say what to do about {rule['alert']}"
        if not {"summary", "runbook"} <= set(rule["annotations"]) or "severity" not in rule["labels"]:
            yield f"alert {rule['alert']} has no summary, runbook or severity"
        anchor = rule["annotations"].get("runbook", "").partition("#")[2]
        headings = {heading.lower().replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
        if anchor not in headings:
            yield f"alert {rule['alert']}: docs/operating.md has no part {anchor}"
    for name in re.findall(r"^\| `(Carillon\w+)` \|", text, re.MULTILINE):
        if name not in {rule["alert"] for rule in alerts()}:
            yield f"docs/operating.md tells of {name}, which is no alert"
    yield from layout_problems(json.loads(DASHBOARD.read_text()))


def layout_problems(board):
    """What Grafana would show over each other, or not at all."""
    every = list(panels(board["panels"]))
    if len({panel["id"] for panel in every}) < len(every):
        yield "dashboard: two panels have one id"
    taken = {}
    for panel in every:
        place = panel["gridPos"]
        if place["x"] + place["w"] > 24:
            yield f"dashboard: {panel['title']} is wider than the page"
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                if other := taken.setdefault((x, y), panel["title"]):
                    if other != panel["title"]:
                        yield f"dashboard: {panel['title']} lies over {other}"
                        return
        if panel["type"] != "row" and panel["datasource"]["uid"] != "${datasource}":
            yield f"dashboard: {panel['title']} does not use the chosen data source"


def check_exposition(text):
    """Ends the program when a running service does not show what alerts and dashboard ask for."""
    shown = set(re.findall(rf"^# TYPE ({NAME}) ", text, re.MULTILINE))
    _, histograms = sources()
    asked = {
        base(name, histograms)
        for _, expression in expressions()
        for name in re.findall(rf"\b{NAME}\b", re.sub(r'"[^"]*"', "", expression))
    }
    if missing := asked - shown - LATE:
        raise SystemExit(f"the service does not show {', '.join(sorted(missing))}")
    print(f"    {len(asked)} metrics are asked for, all of them are shown or come later")
