#!/usr/bin/env python3
"""Checks what operators install: the image's files, the units of systemd, alerts and dashboard.

Tools that are not there are named, and what they would check is left out.

    python3 Tests/Packaging/check.py
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import manifests  # noqa: E402
import observability  # noqa: E402

ROOT = observability.ROOT
PACKAGING = ROOT / "packaging"
UNIT = PACKAGING / "systemd/carillon.service"
# Of ten; systemd calls up to 2.0 fine. The network is what is left: Carillon calls receivers that it does not know yet.
MOST_EXPOSURE = 2.0
problems, left_out = [], []


def tool(name, *arguments, what, text=None):
    """Runs a tool of this machine, of Python's environment or of .build/tools; answers its output, None without it."""
    places = [str(pathlib.Path(sys.executable).parent), str(ROOT / ".build/tools/usr/bin"), os.environ["PATH"]]
    path = shutil.which(name, path=":".join(places))
    if not path:
        left_out.append(f"{name} is not installed: {what}")
        return None
    command = [path, *(str(argument) for argument in arguments)]
    done = subprocess.run(command, cwd=ROOT, text=True, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        problems.append(f"{name} {arguments[0]}:\n{done.stdout.rstrip()}")
    return done.stdout


def check_image():
    tool("hadolint", ".docker/Dockerfile", what="the Dockerfile is not linted")
    style = "{extends: default, rules: {line-length: {max: 160}, document-start: disable, braces: {max-spaces-inside: 0}}}"
    files = ["docker-compose.yml", *sorted(PACKAGING.glob("prometheus/*.yaml")), *sorted(PACKAGING.glob("kubernetes/*.yaml"))]
    tool("yamllint", "--strict", "-d", style, *files, what="YAML is not linted")
    # What the program looks for beside itself has to be let into the build, and copied.
    dockerfile = (ROOT / ".docker/Dockerfile").read_text()
    kept = (ROOT / ".dockerignore").read_text().splitlines()
    copied = re.search(r"for part in (.*); do", dockerfile)[1].split()
    packed = re.search(r"^resources=\((.*)\)$", (ROOT / "Scripts/lib/staging.sh").read_text(), re.M)[1].split()
    sources = "\n".join(path.read_text() for path in (ROOT / "Sources/carillon").rglob("*.swift"))
    for part in re.findall(r'\bResource\("([^"]+)"', sources):
        if part not in copied or f"!{part}" not in kept:
            problems.append(f"the image lacks {part}: name it in .docker/Dockerfile and .dockerignore")
        if part not in packed:
            problems.append(f"packages lack {part}: name it in Scripts/lib/staging.sh")
        if any(path.is_symlink() for path in (ROOT / part).rglob("*")):
            for name in (".docker/Dockerfile", "Scripts/lib/staging.sh"):
                if re.search(r"\bcp -r [^\n]*(Console|resources)", (ROOT / name).read_text()):
                    problems.append(f"{name} copies links of {part} as links: cp -rL copies what they lead to")
    # The package manager wants every target's folder, also of what it does not build.
    for folder in re.findall(r'path: "([^"/]+)', (ROOT / "Package.swift").read_text()):
        if f"!{folder}" not in kept:
            problems.append(f"the image's build lacks {folder}: name it in .dockerignore")
    check_compose(yaml.safe_load((ROOT / "docker-compose.yml").read_text()))


def variables():
    """What the program can be told by its environment."""
    settings = re.findall(r"^\s*case (\w+)$", (ROOT / "Sources/carillon/Configuration/Setting.swift").read_text(), re.M)
    return {"CARILLON_" + re.sub(r"([A-Z])", r"_\1", name).upper() for name in settings}


def check_kubernetes():
    problems.extend(manifests.problems(variables()))
    rendered = tool("kubectl", "kustomize", manifests.FOLDER, what="the manifests are not put together")
    if rendered is not None and len(list(yaml.safe_load_all(rendered))) < len(list(manifests.FOLDER.glob("*.yaml"))):
        problems.append(f"kubectl kustomize leaves something out:\n{rendered}")


def check_compose(file):
    for name, service in file["services"].items():
        for variable in service.get("environment", {}):
            if variable.startswith("CARILLON_") and variable not in variables():
                problems.append(f"docker-compose.yml: {name} is given {variable}, which is no setting")
    with tempfile.NamedTemporaryFile("w", suffix=".env") as secrets:
        secrets.write("CARILLON_OPERATOR_TOKEN=x\nCARILLON_MASTER_KEY=y\n")
        secrets.flush()
        words = ["--env-file", secrets.name, "--file", "docker-compose.yml", "config", "--quiet"]
        has_plugin = shutil.which("docker") and subprocess.run(
            ["docker", "compose", "version"], capture_output=True
        ).returncode == 0
        if has_plugin:
            tool("docker", "compose", *words, what="")
        else:
            tool("docker-compose", *words, what="docker-compose.yml is not read by Compose")


def check_stop():
    """The unit leaves the order of stopping to the program, and as much time as that may take."""
    unit = dict(re.findall(r"^(\w+)=(.*)$", UNIT.read_text(), re.M))
    if unit.get("KillMode") != "mixed":
        problems.append("carillon.service: without KillMode=mixed PostgreSQL is stopped before Carillon has written what is in hand")
    sources = ROOT / "Sources"
    limits = [
        (sources / "carillon/Composition/Composition.swift", r"shutdownLimit = Duration\.seconds\((\d+)\)"),
        (sources / "carillon/Composition/Storage.swift", r"stopTimeout = Duration\.seconds\((\d+)\)"),
        (sources / "EmbeddedPostgres/EmbeddedCluster.swift", r"\(SIG\w+, \.seconds\((\d+)\)\)"),
    ]
    found = [(path, re.findall(pattern, path.read_text())) for path, pattern in limits]
    problems.extend(f"{path.name} does not say how long it takes to stop" for path, seconds in found if not seconds)
    longest = sum(int(second) for _, seconds in found for second in seconds)
    if int(unit.get("TimeoutStopSec", 0)) <= longest:
        problems.append(f"carillon.service: to stop may take {longest} s, and is cut off after {unit.get('TimeoutStopSec')} s")


def check_units():
    if not shutil.which("systemd-analyze"):
        left_out.append("systemd-analyze is not installed: the unit is not checked")
        return
    answer = tool("systemd-analyze", "security", "--offline=true", "--no-pager", UNIT, what="") or ""
    exposure = re.search(r"Overall exposure level for .*: ([0-9.]+)", answer)
    if not exposure or float(exposure[1]) > MOST_EXPOSURE:
        problems.append(f"carillon.service is too exposed:\n{answer}")
    with tempfile.TemporaryDirectory() as folder:
        # The unit is looked at where its program and what it is ordered by exist.
        root = pathlib.Path(folder)
        units = root / "etc/systemd/system"
        units.mkdir(parents=True)
        shutil.copy(UNIT, units)
        for name in ["sysinit.target", "basic.target", "shutdown.target", "network-online.target", "multi-user.target"]:
            (units / name).write_text("[Unit]\nDescription=of a machine\n")
        (units / "-.slice").write_text("[Unit]\nDescription=of a machine\n")
        (units / "system.slice").write_text("[Unit]\nDescription=of a machine\n")
        (units / "tmp.mount").write_text("[Mount]\nWhat=tmpfs\nWhere=/tmp\nType=tmpfs\n")
        program = root / "opt/carillon/carillon"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        known = len(problems)
        said = tool("systemd-analyze", "verify", "--man=no", "--recursive-errors=no", f"--root={root}", units / UNIT.name,
                    what="") or ""
        # What it passes over with a warning was meant to have an effect.
        if UNIT.name in said and len(problems) == known:
            problems.append(f"systemd-analyze verify:\n{said}")
        check_users(root)


def check_users(root):
    """The two files make the user and the folder, in a machine that has neither."""
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\n")
    if os.geteuid() != 0:
        left_out.append("this is not root: users and folders of systemd's files are not made")
        return
    (root / "etc/carillon").mkdir()
    (root / "etc/carillon/carillon.env").write_text("")
    tool("systemd-sysusers", f"--root={root}", PACKAGING / "systemd/carillon.sysusers", what="its file is not read")
    tool("systemd-tmpfiles", "--create", f"--root={root}", PACKAGING / "systemd/carillon.tmpfiles",
         what="its file is not read")
    if not re.search(r"^carillon:", (root / "etc/passwd").read_text(), re.M):
        problems.append("carillon.sysusers makes no user carillon")
    modes = [(root / path).stat().st_mode & 0o777 for path in ("etc/carillon", "etc/carillon/carillon.env")]
    if modes != [0o750, 0o600]:
        problems.append(f"carillon.tmpfiles leaves modes {[oct(mode) for mode in modes]}")


def check_observability():
    problems.extend(observability.problems())
    what = "alerts and the dashboard's expressions are not parsed, alerts not played"
    rules = observability.RULES
    if tool("promtool", "check", "rules", rules, what=what) is None:
        return
    tool("promtool", "test", "rules", rules.with_name("carillon.rules.test.yaml"), what=what)
    # Grafana's variables are text to PromQL, but for those that stand for a duration.
    asked = [
        {"record": f"panel:{number}", "expr": expression.replace("$__rate_interval", "5m")}
        for number, (_, expression) in enumerate(observability.dashboard())
        if not expression.startswith("label_values(")
    ]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        json.dump({"groups": [{"name": "dashboard", "rules": asked}]}, file)
        file.flush()
        tool("promtool", "check", "rules", file.name, what=what)
    scrape = yaml.safe_load((PACKAGING / "prometheus/carillon.scrape.yaml").read_text())
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        json.dump({"scrape_configs": scrape, "rule_files": [str(rules)]}, file)
        file.flush()
        tool("promtool", "check", "config", file.name, what=what)


def main():
    check_image()
    check_kubernetes()
    check_stop()
    check_units()
    check_observability()
    for line in left_out:
        print(f"    {line}")
    for line in problems:
        print(line)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
