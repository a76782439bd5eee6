"""A PostgreSQL that is thrown away, for services that are given one."""

import os
import pathlib
import shutil
import subprocess


class Cluster:
    """Reached by a socket in its folder, where everybody is trusted; made and run by `postgres` where this is root."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
        self.programs = found[-1] if found else pathlib.Path(shutil.which("initdb")).parent
        self.prefix = []
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
            self.prefix = ["runuser", "-u", "postgres", "--"]
        self.run("initdb", "-D", self.folder / "data", "-U", "carillon", "-A", "trust", "--no-sync")
        self.start()
        self.url = f"postgres://carillon@/postgres?host={self.folder}"

    def start(self):
        options = f"-c listen_addresses= -c unix_socket_directories={self.folder} -c max_connections=200"
        self.run("pg_ctl", "-D", self.folder / "data", "-w", "-l", self.folder / "log", "-o", options, "start")

    def query(self, statement):
        return self.run("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", self.url, "-c", statement)

    def stop(self):
        self.run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop")

    def run(self, program, *arguments):
        command = [*self.prefix, self.programs / program, *arguments]
        # What it starts must not keep a pipe of ours.
        with open(self.folder.parent / f"{program}.output", "w+") as output:
            ended = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, cwd="/").returncode
            output.seek(0)
            said = output.read().strip()
        if ended:
            raise RuntimeError(f"{program}: {said[-2000:]}")
        return said
