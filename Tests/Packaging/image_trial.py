#!/usr/bin/env python3
"""Does what .docker/Dockerfile says, without a container engine, and tries what comes out of it.

The last stage's base image is played by a Debian that debootstrap makes, with the runtime libraries of the installed
Swift; the compiler by a program that was built before. Everything else is done as the file says: what .dockerignore lets
through is copied, the commands are run, files, variables, user, health check and command are those of the image. Then the
service is started with a PostgreSQL of its own outside, and one event goes through.

By hand, as root, on Debian 12 with debootstrap and postgresql; takes about two minutes:

    python3 Tests/Packaging/image_trial.py .build/optimised/release/carillon [BASE]

BASE is a folder for the Debian, which is made when it is not there, and may be used again.
"""

import contextlib
import fnmatch
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent))

ROOT = pathlib.Path(__file__).parent.parent.parent
# What the image is made of that Swift's own base image has, and what PostgreSQL's server is on this machine.
SLIM_PACKAGES = "tzdata"
PUBLIC, MANAGEMENT, POSTGRES = 18480, 18490, 18432
# An image's, unless it says otherwise.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TOKEN = "operator-of-the-image-trial-0123456789"


def say(text):
    print(f"==> {text}", flush=True)


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, **options)


def instructions(text):
    """The instructions of a Dockerfile, each as its word and the rest."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n", "", "\n".join(lines))
    return [line.split(None, 1) for line in joined.splitlines() if line.strip()]


def stages(text):
    found = []
    for word, rest in instructions(text):
        if word == "FROM":
            found.append([])
        found[-1].append((word, rest))
    return found


def make_base(base):
    """A Debian as Swift's slim image is one: with the runtime libraries, without the compiler."""
    if not (base / "etc/debian_version").exists():
        say(f"a Debian in {base}")
        mirror = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
        run("debootstrap", "--variant=minbase", f"--include={SLIM_PACKAGES}", "bookworm", base, mirror,
            stdout=subprocess.DEVNULL)
    # Swift's images have them where the compiler's are, and that is where a program looks for them.
    runtime = pathlib.Path(shutil.which("swiftc")).resolve().parent.parent / "lib/swift/linux"
    libraries = base / runtime.relative_to("/")
    libraries.mkdir(parents=True, exist_ok=True)
    for library in runtime.glob("*.so"):
        shutil.copy2(library, libraries)


def copy_context(destination):
    """What the build gets to see."""
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for path in ROOT.iterdir():
        if any(fnmatch.fnmatch(path.name, pattern) for pattern in kept):
            copy = shutil.copytree if path.is_dir() else shutil.copy2
            copy(path, destination / path.name)


def build(stage, program, image):
    """Runs the step that puts the image's files together, with a compiler that has nothing to do."""
    command = next(rest for word, rest in stage if word == "RUN" and "swift build" in rest)
    command = re.sub(r"^(--\S+\s+)+", "", command).replace("/image/", f"{image}/")
    with tempfile.TemporaryDirectory() as folder:
        source, tools = pathlib.Path(folder, "source"), pathlib.Path(folder, "tools")
        source.mkdir()
        tools.mkdir()
        copy_context(source)
        (source / ".build/release").mkdir(parents=True)
        shutil.copy2(program, source / ".build/release/carillon")
        (tools / "swift").write_text("#!/bin/sh\n")
        (tools / "swift").chmod(0o755)
        run("sh", "-ec", command, cwd=source, env={"PATH": f"{tools}:{os.environ['PATH']}"})


class Image:
    """The last stage, done in a root of its own."""

    def __init__(self, stage, root, image):
        self.root, self.environment, self.folder, self.user = root, {}, "/", "0:0"
        self.entrypoint, self.command, self.health = [], [], []
        for word, rest in stage:
            if word == "RUN":
                run("chroot", root, "sh", "-ec", rest, env={"PATH": PATH,
                    "DEBIAN_FRONTEND": "noninteractive"}, stdout=subprocess.DEVNULL)
            elif word == "COPY":
                if rest != "--from=build /image /":
                    sys.exit(f"cannot play COPY {rest}")
                run("cp", "-a", f"{image}/.", f"{root}/")
            elif word == "ENV":
                self.environment |= dict(re.findall(r"(\w+)=(\S+)", rest))
            elif word == "USER":
                self.user = rest
            elif word == "WORKDIR":
                self.folder = rest
            elif word == "HEALTHCHECK":
                self.health = json.loads(rest[rest.index("CMD") + 3:])
            elif word in ("ENTRYPOINT", "CMD"):
                setattr(self, word.lower() if word == "ENTRYPOINT" else "command", json.loads(rest))
            elif word not in ("FROM", "LABEL", "EXPOSE", "STOPSIGNAL"):
                sys.exit(f"cannot play {word}")

    def start(self, arguments, settings, **options):
        environment = {"PATH": PATH} | self.environment | settings
        inside = ["chroot", f"--userspec={self.user}", str(self.root), "sh", "-c", 'cd "$0" && exec "$@"', self.folder]
        return subprocess.Popen(inside + arguments, env=environment, **options)


@contextlib.contextmanager
def mounts(root, data):
    """What a container has under /proc, and an image that cannot be written to, but for its data directory."""
    data = root / data.lstrip("/")
    with contextlib.ExitStack() as stack:
        for place, options in [(root, ["--bind", root]), (data, ["--bind", data]),
                               (root / "proc", ["-t", "proc", "proc"])]:
            run("mount", *options, place)
            stack.callback(run, "umount", place)
        run("mount", "-o", "remount,ro,bind", root)
        yield


@contextlib.contextmanager
def postgres(folder):
    """A server on this machine, as somebody's database is: reached by a URL."""
    tools = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
    data = folder / "postgres"
    data.mkdir()
    shutil.chown(data, "postgres", "postgres")
    (folder / "password").write_text("carillon")
    shutil.chown(folder / "password", "postgres")
    as_postgres = ["runuser", "-u", "postgres", "--"]
    run(*as_postgres, tools / "initdb", "-D", data, "-U", "carillon", "-A", "scram-sha-256",
        f"--pwfile={folder}/password", stdout=subprocess.DEVNULL)
    options = f"-p {POSTGRES} -c listen_addresses=127.0.0.1 -c unix_socket_directories={data}"
    run(*as_postgres, tools / "pg_ctl", "-D", data, "-w", "-s", "-l", data / "log", "-o", options, "start")
    try:
        yield f"postgres://carillon:carillon@127.0.0.1:{POSTGRES}/postgres"
    finally:
        run(*as_postgres, tools / "pg_ctl", "-D", data, "-s", "-m", "immediate", "stop")


def call(method, port, path, token=None, body=None, kind="application/json"):
    headers = {"content-type": kind} | ({"authorization": f"Bearer {token}"} if token else {})
    data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, headers, method=method)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.read().decode()


def wait(what, condition):
    for _ in range(300):
        with contextlib.suppress(OSError, KeyError, IndexError):
            if value := condition():
                return value
        time.sleep(0.1)
    sys.exit(f"in vain waited for {what}")


def is_healthy(image, health, service):
    if service.poll() is not None:
        sys.exit(f"the service ended with {service.returncode}")
    return image.start(health, {}, stderr=subprocess.DEVNULL).wait() == 0


def try_service(image, url, output):
    settings = {
        "CARILLON_DATABASE_URL": url, "CARILLON_OPERATOR_TOKEN": TOKEN,
        "CARILLON_MASTER_KEY": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        # All share this machine's network here; in containers each has its own.
        "CARILLON_LISTEN": f"127.0.0.1:{PUBLIC}", "CARILLON_MANAGEMENT_LISTEN": f"127.0.0.1:{MANAGEMENT}",
    }
    say("migrate")
    if status := image.start(image.entrypoint + ["migrate"], settings, stdout=subprocess.DEVNULL).wait():
        sys.exit(f"carillon migrate ended with {status}")
    say("serve")
    with open(output, "wb") as stdout:
        service = image.start(image.entrypoint + image.command, settings, stdout=stdout)
    try:
        health = [part.replace("/9090", f"/{MANAGEMENT}") for part in image.health]
        wait("the image's own health check", lambda: is_healthy(image, health, service))
        print("   ", call("GET", MANAGEMENT, "/health/ready"))
        status = pathlib.Path(f"/proc/{service.pid}/status").read_text()
        uid = re.search(r"^Uid:\s+(\d+)", status, re.MULTILINE)[1]
        if uid != image.user.split(":")[0] or uid == "0":
            sys.exit(f"the service runs as {uid}")
        if image.start(image.entrypoint + ["doctor"], settings).wait() != 0:
            sys.exit("carillon doctor has found something")
        try_event(output)
        # It reads YAML, for which others that begin from here have no library.
        import observability

        observability.check_exposition(call("GET", MANAGEMENT, "/metrics"))
    finally:
        service.send_signal(signal.SIGTERM)
        status = service.wait(timeout=30)
    if status != 0:
        sys.exit(f"after SIGTERM the service ended with {status}")


def try_event(output):
    say("one event")
    key = json.loads(call("POST", PUBLIC, "/v1/networks", TOKEN, {"id": "acme", "displayName": "Acme"}))["apiKey"]
    lines = [{"user": {"id": "alice"}}, {"user": {"id": "bob"}}]
    imported = "".join(json.dumps(line) + "\n" for line in lines).encode()
    print("   ", call("POST", PUBLIC, "/v1/networks/acme/import", key, imported, "application/x-ndjson"))
    call("PUT", PUBLIC, "/v1/networks/acme/devices/phone", key, {"userId": "bob", "provider": "log"})
    event = {"id": "evt-1", "type": "message.sent", "data": {
        "channel": {"id": "general", "displayName": "General"}, "user": {"id": "alice", "displayName": "Alice"},
        "members": [{"id": "bob"}], "message": {"id": "m-1", "type": "text", "text": "Hello"}}}
    call("POST", PUBLIC, "/v1/networks/acme/events", key, event)
    print("   ", wait("the notification on standard output", output.read_text).strip())


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="carillon-image-", dir="/tmp") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        base = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else folder / "base"
        make_base(base)
        root, image = folder / "root", folder / "image"
        run("cp", "-a", "--reflink=auto", base, root)
        (root / "dev").mkdir(exist_ok=True)
        first, last = stages((ROOT / ".docker/Dockerfile").read_text())
        say("the image's files")
        build(first, program, image)
        say("the image")
        shutil.copy2("/etc/resolv.conf", root / "etc/resolv.conf")
        made = Image(last, root, image)
        with mounts(root, made.environment["CARILLON_DATA_DIR"]), postgres(folder) as url:
            try_service(made, url, folder / "output")
    say("the image works")


if __name__ == "__main__":
    main()
