#!/usr/bin/env python3
"""Plays the faces whose clients cannot run here, Amity's and MobileFirst's kits, with the requests that they make.

    python3 Tests/Interop/recorded_clients.py [PROGRAM]    # PROGRAM: .build/debug/carillon, unless given
"""

import sys

import amity_walk
import mobilefirst_walk
from playing import perform, program_argument, stage


def main():
    with stage(program_argument()) as played:
        return sum(perform(walk.ACTS, walk.Scene(played)) for walk in (amity_walk, mobilefirst_walk))


if __name__ == "__main__":
    sys.exit(main())
