"""Machines that packages are installed in: this one without Swift, or a new Debian; and the unit that runs on them."""

import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys

import image_trial
from image_trial import call, run, say, wait

PUBLIC, MANAGEMENT = 18481, 18491
STATE, SETTINGS = pathlib.Path("var/lib/carillon"), pathlib.Path("etc/carillon/carillon.env")
# What package managers write for themselves.
BOOKS = re.compile(r"^(var/lib/(dpkg|apt|systemd/deb-systemd-helper)|var/(cache|log|backups)|etc/(passwd|group|g?shadow|sub[ug]id)-?$)")


def check(condition, message):
    if not condition:
        sys.exit(f"FAILED: {message}")


class Machine:
    """A root that packages are installed in."""

    def __init__(self, root):
        self.root = root

    def run(self, *command, **options):
        environment = {"PATH": image_trial.PATH, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
        return subprocess.run(["chroot", self.root, *map(str, command)], env=environment, text=True, capture_output=True, **options)

    def must(self, *command, **options):
        done = self.run(*command, **options)
        check(done.returncode == 0, f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def files(self):
        """All that a package could leave behind."""
        found = set()
        for folder in ("etc", "usr", "var", "opt", "home", "tmp"):
            for path, folders, names in os.walk(self.root / folder):
                here = pathlib.Path(path).relative_to(self.root)
                found |= {str(here / name) for name in folders + names}
        return {path for path in found if not BOOKS.match(path)}

    def left_since(self, before):
        """What there was not before."""
        return self.files() - before

    def install(self, package):
        target = self.root / "root" / package.name
        shutil.copy(package, target)
        return self.must(*self.installer, f"/root/{package.name}")


class ThisMachine(Machine):
    """This one, as it is without Swift and without Carillon. systemctl enables units; what else it is asked, it writes down."""

    installer = ["dpkg", "--install"]

    def __init__(self, folder):
        super().__init__(folder / "root")
        for name in ("upper", "work", "root"):
            (folder / name).mkdir()
        options = f"lowerdir=/,upperdir={folder}/upper,workdir={folder}/work"
        run("mount", "-t", "overlay", "overlay", "-o", options, self.root)
        run("mount", "-t", "proc", "proc", self.root / "proc")
        run("mount", "--rbind", "/dev", self.root / "dev")
        for empty in ("tmp", "run"):
            run("mount", "-t", "tmpfs", "tmpfs", self.root / empty)
        (self.root / "tmp").chmod(0o1777)
        if compiler := shutil.which("swiftc"):
            toolchain = pathlib.Path(compiler).resolve().parent.parent
            run("mount", "-t", "tmpfs", "tmpfs", self.root / toolchain.relative_to("/"))
            check(self.run("which", "swiftc").returncode != 0, "Swift is there")
        (self.root / "usr/sbin/policy-rc.d").unlink(missing_ok=True)
        recorder = self.root / "usr/bin/systemctl"
        self.has_systemd = recorder.exists()
        if not self.has_systemd:
            return
        (self.root / "run/systemd/system").mkdir(parents=True)
        recorder.rename(recorder.with_name("real-systemctl"))
        recorder.write_text(
            '#!/bin/sh\ncase $* in *preset*) exec real-systemctl "$@" ;; *is-enabled*) echo enabled ;; esac\necho "$*" >>/root/systemctl\n'
        )
        recorder.chmod(0o755)

    def asked_of_systemd(self):
        """What units were asked to do, since this was asked last; `None` where there is nobody to ask."""
        if not self.has_systemd:
            return None
        asked = self.root / "root/systemctl"
        lines = asked.read_text().splitlines() if asked.exists() else []
        asked.unlink(missing_ok=True)
        words = [line.split() for line in lines]
        return [line[-2] for line in words if line[-2:-1] in (["start"], ["restart"], ["stop"])]


class Debian(Machine):
    """A new one, with nothing but what Debian cannot do without."""

    installer = ["apt-get", "install", "--yes", "--no-install-recommends", "-o", "Dpkg::Use-Pty=0"]

    def __init__(self, folder):
        super().__init__(folder / "root")
        say("a Debian")
        mirror = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
        run("debootstrap", "--variant=minbase", "bookworm", self.root, mirror, stdout=subprocess.DEVNULL)
        run("mount", "-t", "proc", "proc", self.root / "proc")
        run("mount", "--rbind", "/dev", self.root / "dev")
        shutil.copy2("/etc/resolv.conf", self.root / "etc/resolv.conf")

    def left_since(self, before):
        """Of the packages that Carillon depends on everything stays."""
        return {path for path in super().left_since(before) if "carillon" in path.lower()}

    def asked_of_systemd(self):
        return None


class Unit:
    """carillon.service, started as systemd would."""

    def __init__(self, machine):
        self.machine = machine
        text = (machine.root / "usr/lib/systemd/system/carillon.service").read_text()
        self.settings = dict(re.findall(r"^(\w+)=(.*)$", text, re.M))

    def start(self, command):
        """Starts a command with the user, the folder and the settings that the unit gives it."""
        environment = {"PATH": image_trial.PATH}
        environment |= dict(pair.split("=", 1) for pair in self.settings["Environment"].split())
        file = self.machine.root / self.settings["EnvironmentFile"].lstrip("/")
        environment |= dict(re.findall(r"^(\w+)=(.*)$", file.read_text(), re.M))
        user = f"--userspec={self.settings['User']}:{self.settings['Group']}"
        inside = ["sh", "-c", f"cd {self.settings['WorkingDirectory']} && exec {command}"]
        return subprocess.Popen(["chroot", user, self.machine.root, *inside], env=environment)

    def __enter__(self):
        self.service = self.start(self.settings["ExecStart"])
        wait("the service", self.is_ready)
        return self

    def is_ready(self):
        check(self.service.poll() is None, f"the service ended with {self.service.returncode}")
        return call("GET", MANAGEMENT, "/health/ready")

    def __exit__(self, *_):
        self.service.send_signal(signal.SIGTERM)
        status = self.service.wait(timeout=30)
        check(status == 0, f"after SIGTERM the service ended with {status}")

    def token(self):
        return (self.machine.root / STATE / "operator-token").read_text().strip()
