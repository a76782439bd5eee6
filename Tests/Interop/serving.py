"""Starts the service for the tools here, on free ports and on a database of its own that is thrown away."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parent.parent.parent


def clean_environment():
    """What this process was started with, without what would configure the service."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CARILLON_")}


def work_folder():
    """A folder for a service and its database, gone when it is left: in memory where there is room, since a database that is
    thrown away needs no disk, and would wait for it most of the time."""
    memory = pathlib.Path("/dev/shm")
    has_room = memory.is_dir() and shutil.disk_usage(memory).free >= 4 << 30
    # Both paths are equally long: the console cuts long errors, in which they stand.
    prefix, parent = ("crln-", memory) if has_room else ("carillon-", "/tmp")
    return tempfile.TemporaryDirectory(prefix=prefix, dir=parent)


def start(program, folder, settings={}, root=ROOT):
    """Starts the service of the checkout `root` on free ports; answers the process and its public address."""
    environment = clean_environment() | {
        "CARILLON_DATA_DIR": f"{folder}/data",
        "CARILLON_LISTEN": "127.0.0.1:0",
        "CARILLON_MANAGEMENT_LISTEN": "127.0.0.1:0",
        "CARILLON_LOG_FORMAT": "json",
    } | settings
    os.chmod(folder, 0o755)
    log = pathlib.Path(f"{folder}/log")
    if log.exists():
        # What it said in a former life.
        log.rename(f"{folder}/log.{time.monotonic_ns()}")
    log = open(log, "w+")
    output = open(f"{folder}/output", "w")
    process = subprocess.Popen([program, "serve"], cwd=root, env=environment, stdout=output, stderr=log)
    for _ in range(600):
        time.sleep(0.1)
        for line in pathlib.Path(f"{folder}/log").read_text().splitlines():
            entry = json.loads(line) if line.startswith("{") else {}
            address = find(entry, "public")
            if address:
                return process, address
        if process.poll() is not None:
            break
    sys.exit("the service did not start:\n" + pathlib.Path(f"{folder}/log").read_text())


def find(entry, key):
    """A value anywhere in a log line."""
    for name, value in entry.items():
        if name == key:
            return value
        if isinstance(value, dict) and (found := find(value, key)):
            return found
    return None
