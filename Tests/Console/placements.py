"""A service whose networks are in two placements: databases of another service's PostgreSQL."""

import base64
import contextlib
import json
import os
import pathlib
import secrets
import subprocess

from service import ROOT, Service
from serving import clean_environment

DATABASES = {"default": "placed_home", "p1": "placed_p1"}


def start(beside, folder):
    """Starts it; `default` takes new networks, and `p1` none."""
    socket, port, owner = server(beside)
    for database in DATABASES.values():
        beside.query(f"CREATE DATABASE {database}")
    addresses = {name: f"postgres:///{database}?host={socket}&port={port}&user={owner}" for name, database in DATABASES.items()}
    token = secrets.token_hex(24)
    data = pathlib.Path(folder, "data")
    data.mkdir()
    (data / "operator-token").write_text(token)
    settings = {
        "CARILLON_DATABASE_URL": addresses["default"],
        "CARILLON_PLACEMENTS": f"p1={addresses['p1']}",
        "CARILLON_OPERATOR_TOKEN": token,
        "CARILLON_MASTER_KEY": base64.b64encode(os.urandom(32)).decode(),
    }
    environment = clean_environment() | {"CARILLON_DATA_DIR": str(data)} | settings
    migration = subprocess.run([beside.program, "migrate"], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert migration.returncode == 0, migration.stdout + migration.stderr
    return Service(beside.program, folder, settings)


def server(service):
    """Where a service's own PostgreSQL listens, and who may do everything in it."""
    file = next(pathlib.Path(service.folder, "data").rglob("postmaster.pid"))
    lines = file.read_text().splitlines()
    return lines[4], lines[3], pathlib.Path(lines[1]).owner()


@contextlib.contextmanager
def away(beside, name):
    """Lets nobody into a placement's database meanwhile."""
    database = DATABASES[name]
    beside.query(f"ALTER DATABASE {database} ALLOW_CONNECTIONS false")
    try:
        beside.query(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'")
        yield
    finally:
        beside.query(f"ALTER DATABASE {database} ALLOW_CONNECTIONS true")


@contextlib.contextmanager
def held(beside, name, network=None):
    """Keeps a placement's tables from a move meanwhile, which has refused nothing yet; given a network, its row alone: it neither leaves nor
    is let go on."""
    lock = "LOCK TABLE tags IN ROW EXCLUSIVE MODE;\nSELECT 'held';"
    if network:
        lock = f"SELECT 'held' FROM networks WHERE network_id = '{network}' FOR UPDATE;"
    with subprocess.Popen(
        beside.psql(DATABASES[name]), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/"
    ) as session:
        session.stdin.write(f"BEGIN;\n{lock}\n")
        session.stdin.flush()
        assert session.stdout.readline() == "held\n"
        # What it says is over at the end of its input.
        yield


def occupy(beside, name, network):
    """Has a replica that is gone hold an event of a network for a while yet: the network does not leave before that is over."""
    body = {"id": "held", "type": "message.sent", "data": {"channel": {"id": "c"}, "user": {"id": "u"}, "message": {"text": "x"}}}
    statement = f"""
        INSERT INTO inbox (network_id, event_id, source_id, event_type, received_at, occurred_at, body, run_at, leased)
        VALUES ('{network}', gen_random_uuid(), 'held', 'message.sent', now(), now(), '{json.dumps(body)}', now() + interval '80 s', true)
    """
    found = subprocess.run([*beside.psql(DATABASES[name]), "-c", statement], capture_output=True, text=True, cwd="/")
    assert found.returncode == 0, found.stderr
