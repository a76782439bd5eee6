#!/usr/bin/env python3
"""Makes what Scripts/package makes, and lives with it where Swift is not installed: installs the .deb, plays `carillon demo`, runs the
service as its unit says, upgrades it, removes and purges it; starts the .tar.xz and the image.

The machine itself is played with, in a room of its own: what is written there is memory, and Swift is hidden. With --debian the
room is a Debian that debootstrap makes, and apt-get brings what the package depends on, which takes minutes and a mirror.

As root, with dpkg and PostgreSQL's server:

    python3 Tests/Packaging/package_trial.py [--debian] [PROGRAM]    # PROGRAM: an optimised build; that of Scripts/carillon, unless given
"""

import argparse
import hashlib
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import image_trial
from image_trial import call, run, say, wait
from machines import MANAGEMENT, PUBLIC, SETTINGS, STATE, Debian, ThisMachine, Unit, check

ROOT = image_trial.ROOT
ROOM = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"]


def repack(package, version):
    """The same package as if it were a later one's."""
    tree, later = package.with_suffix(""), package.with_name(f"carillon_{version}_all.deb")
    run("dpkg-deb", "--raw-extract", package, tree)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"^Version: .*$", f"Version: {version}", control.read_text(), flags=re.M))
    (tree / "usr/lib/carillon/of-the-later-release").write_text("")
    run("dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, later, stdout=subprocess.DEVNULL)
    shutil.rmtree(tree)
    return later


def live_with(machine, package, version):
    before = machine.files()
    say("install")
    said = machine.install(package)
    check("operator-token" in said, f"the package does not say where the token is:\n{said}")
    installed = machine.files()
    check(machine.must("carillon", "--version").strip() == version, f"carillon --version is not {version}")
    modes = {path: (machine.root / path).stat().st_mode & 0o777 for path in (SETTINGS.parent, SETTINGS, STATE)}
    check(modes == {SETTINGS.parent: 0o750, SETTINGS: 0o600, STATE: 0o700}, f"modes are {modes}")
    brought = {path.name for path in (machine.root / "usr/lib/carillon").glob("lib*.so")}
    needless = {name for name in brought if re.search("Networking|XML|CURL", name)}
    check(brought and not needless, f"the program is linked to {needless or 'no library of its own'}")
    check((machine.root / "etc/systemd/system/multi-user.target.wants/carillon.service").is_symlink(), "the unit is not enabled")
    check(machine.asked_of_systemd() in (None, ["start"]), "the unit is not started")

    say("demo")
    told = machine.must("runuser", "-u", "carillon", "--", "carillon", "demo")
    check("Everything came out as it should." in told, told)
    left = machine.files() - installed
    check(not left, f"the demo leaves {sorted(left)}")

    say("serve, with settings of one's own")
    with open(machine.root / SETTINGS, "a", encoding="utf-8") as file:
        file.write(f"CARILLON_LISTEN=127.0.0.1:{PUBLIC}\nCARILLON_MANAGEMENT_LISTEN=127.0.0.1:{MANAGEMENT}\n")
    settings = (machine.root / SETTINGS).read_text()
    with Unit(machine) as unit:
        call("POST", PUBLIC, "/v1/networks", unit.token(), {"id": "acme", "displayName": "Acme"})
        check(unit.start("carillon doctor").wait() == 0, "doctor has found something")
        for page in ("/console/", "/console/carillon.js", "/openapi.yaml"):
            check(len(call("GET", PUBLIC, page)) > 100, f"{page} is not served")

    say("upgrade")
    later = f"{version}+1"
    machine.install(repack(package, later))
    check(machine.must("dpkg-query", "--show", "-f", "${Version}", "carillon") == later, "it was not upgraded")
    check((machine.root / "usr/lib/carillon/of-the-later-release").exists(), "files of the later release are missing")
    check((machine.root / SETTINGS).read_text() == settings, "the upgrade has changed settings")
    check(machine.asked_of_systemd() in (None, ["restart"]), "the unit is not started anew")
    with Unit(machine) as unit:
        networks = json.loads(call("GET", PUBLIC, "/v1/networks", unit.token()))
        check([network["id"] for network in networks["items"]] == ["acme"], f"networks are {networks}")

    say("remove")
    machine.must("dpkg", "--remove", "carillon")
    check(machine.asked_of_systemd() in (None, ["stop"]), "the unit is not stopped")
    check(machine.run("sh", "-c", "command -v carillon").returncode != 0, "the program is still there")
    check((machine.root / SETTINGS).read_text() == settings, "settings are gone before they are purged")

    say("purge, unasked")
    said = machine.must("dpkg", "--purge", "carillon")
    check("kept in /var/lib/carillon" in said, f"nobody hears of the data:\n{said}")
    left = {path for path in machine.left_since(before) if STATE not in (pathlib.Path(path), *pathlib.Path(path).parents)}
    check(not left, f"the purge leaves {sorted(left)}")
    check((machine.root / STATE / "operator-token").exists(), "the purge has taken data that nobody gave up")

    say("install anew, and purge with data")
    machine.install(package)
    check((machine.root / STATE / "operator-token").exists(), "the data was not taken up again")
    machine.must("debconf-set-selections", input="carillon carillon/purge-data boolean true\n")
    machine.must("dpkg", "--purge", "carillon")
    left = machine.left_since(before)
    check(not left, f"the purge leaves {sorted(left)}")
    check(machine.run("getent", "passwd", "carillon").returncode != 0, "the purge leaves the user")


def try_tar(machine, archive, version):
    say("the .tar.xz")
    run("tar", "--directory", machine.root / "opt", "--extract", "--file", archive)
    program = f"/opt/{archive.name.removesuffix('.tar.xz')}/carillon"
    check(machine.must(program, "--version").strip() == version, f"{program} is not {version}")
    told = machine.must("runuser", "-u", "nobody", "--", program, "demo")
    check("Everything came out as it should." in told, told)


class Image:
    """An image as a runtime reads it: everything is looked up by its digest."""

    def __init__(self, archive, folder):
        self.folder, self.root = folder / "image", folder / "image-root"
        self.root.mkdir()
        self.folder.mkdir()
        run("tar", "--directory", self.folder, "--extract", "--file", archive)
        index = json.loads((self.folder / "index.json").read_text())
        manifest = json.loads(self.blob(index["manifests"][0]))
        configuration = json.loads(self.blob(manifest["config"]))
        layer = subprocess.run(["zstd", "-dc"], input=self.blob(manifest["layers"][0]), capture_output=True, check=True).stdout
        check(configuration["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(layer).hexdigest()], "the layer is another")
        run("tar", "--directory", self.root, "--extract", "--same-owner", "--preserve-permissions", input=layer)
        settings = configuration["config"]
        self.user, self.entrypoint, self.command = settings["User"], settings["Entrypoint"], settings["Cmd"]
        self.folder_inside = settings["WorkingDir"]
        self.environment = dict(pair.split("=", 1) for pair in settings["Env"])
        self.compare(settings)

    def blob(self, descriptor):
        content = (self.folder / "blobs/sha256" / descriptor["digest"].removeprefix("sha256:")).read_bytes()
        check(len(content) == descriptor["size"], f"{descriptor} has {len(content)} bytes")
        check("sha256:" + hashlib.sha256(content).hexdigest() == descriptor["digest"], f"{descriptor} is something else")
        return content

    def compare(self, settings):
        """It is run as the image of the Dockerfile is."""
        words = dict(image_trial.stages((ROOT / ".docker/Dockerfile").read_text())[1])
        environment = dict(re.findall(r"(\w+)=(\S+)", words["ENV"]))
        check(environment.items() <= self.environment.items(), f"{environment} is not in {self.environment}")
        said = [words["USER"], words["WORKDIR"], json.loads(words["ENTRYPOINT"]), json.loads(words["CMD"]), words["STOPSIGNAL"]]
        check(said == [self.user, self.folder_inside, self.entrypoint, self.command, settings["StopSignal"]], f"not run as {said}")
        check({f"{port}/tcp" for port in words["EXPOSE"].split()} == set(settings["ExposedPorts"]), "other ports")

    def start(self, arguments, settings, **options):
        # There is no shell inside.
        inside = [shutil.which("chroot"), f"--userspec={self.user}", str(self.root), *arguments]
        return subprocess.Popen(inside, env=self.environment | settings, **options)


def try_image(archive, folder):
    say("the image")
    image = Image(archive, folder)
    with image_trial.mounts(image.root, image.environment["CARILLON_DATA_DIR"]), image_trial.postgres(folder) as url:
        settings = {
            "CARILLON_DATABASE_URL": url, "CARILLON_OPERATOR_TOKEN": image_trial.TOKEN,
            "CARILLON_MASTER_KEY": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            "CARILLON_LISTEN": f"127.0.0.1:{image_trial.PUBLIC}", "CARILLON_MANAGEMENT_LISTEN": f"127.0.0.1:{image_trial.MANAGEMENT}",
        }
        check(image.start(image.entrypoint + ["migrate"], settings).wait() == 0, "carillon migrate failed")
        with open(folder / "output", "wb") as output:
            service = image.start(image.entrypoint + image.command, settings, stdout=output)
        try:
            wait("the image's service", lambda: call("GET", image_trial.MANAGEMENT, "/health/ready"))
            check(image.start(image.entrypoint + ["doctor"], settings, stdout=subprocess.DEVNULL).wait() == 0, "doctor has found something")
            image_trial.try_event(folder / "output")
        finally:
            service.send_signal(signal.SIGTERM)
            status = service.wait(timeout=30)
        check(status == 0, f"after SIGTERM the image's service ended with {status}")


def make(program, folder, *formats):
    options = ["--program", program, "--output", folder, "--quick"]
    made = run(ROOT / "Scripts/package", *formats, *options, stdout=subprocess.PIPE, text=True).stdout.split()
    return [pathlib.Path(path) for path in made]


def play(options):
    # Memory, which is gone with the room.
    folder = pathlib.Path("/mnt")
    run("mount", "-t", "tmpfs", "-o", "mode=0755", "tmpfs", folder)
    packages = folder / "packages"
    deb, tar, oci = make(options.program, packages, "deb", "tar", "oci")
    if options.debian:
        for first, again in zip((deb, tar, oci), make(options.program, folder / "again", "deb", "tar", "oci")):
            check(again.read_bytes() == first.read_bytes(), f"{first.name} is another when it is made again")
        shutil.rmtree(folder / "again")
    version = run(options.program, "--version", stdout=subprocess.PIPE, text=True).stdout.strip()
    check(deb.name.startswith(f"carillon_{version}_"), f"{deb.name} is not called {version}")
    machine = (Debian if options.debian else ThisMachine)(folder)
    live_with(machine, deb, version)
    try_tar(machine, tar, version)
    try_image(oci, folder)


def main():
    parser = argparse.ArgumentParser(description="Tries what Scripts/package makes.")
    parser.add_argument("program", nargs="?", type=pathlib.Path, default=ROOT / ".build/optimised/release/carillon")
    parser.add_argument("--debian", action="store_true", help="in a Debian that debootstrap makes")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.program = options.program.resolve()
    if not options.inside:
        started = time.monotonic()
        status = subprocess.run([*ROOM, sys.executable, __file__, "--inside", *sys.argv[1:]]).returncode
        say(f"{'the packages work' if status == 0 else 'FAILED'} ({time.monotonic() - started:.0f} s)")
        sys.exit(status)
    play(options)


if __name__ == "__main__":
    main()
