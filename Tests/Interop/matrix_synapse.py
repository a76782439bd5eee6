#!/usr/bin/env python3
"""Plays Carillon with a real homeserver, Synapse: as the gateway that its pushers call, and as an application service of it.

    python3 Tests/Interop/matrix_synapse.py [PROGRAM]    # PROGRAM: .build/debug/carillon, unless given
"""

import sys
import tempfile

import matrix_appservice
import matrix_push
from matrix_scene import Scene
from playing import perform, program_argument, stage
from synapse import Homeserver, free_port


def main():
    # The homeserver is told at its start where the service is; they start beside each other.
    listen = f"127.0.0.1:{free_port()}"
    with tempfile.TemporaryDirectory(prefix="synapse-", dir="/tmp") as folder:
        homeserver = Homeserver(folder, matrix_appservice.registration(f"http://{listen}"))
        try:
            with stage(program_argument(), CARILLON_LISTEN=listen) as played:
                failed = perform(matrix_push.ACTS, Scene(played, homeserver))
                return failed or perform(matrix_appservice.ACTS, matrix_appservice.Scene(played, homeserver))
        finally:
            homeserver.stop()


if __name__ == "__main__":
    sys.exit(main())
