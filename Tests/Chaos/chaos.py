"""Plays rounds of load and faults on the real program, and judges whether what is promised holds.

Scripts/chaos --seed 1 --rounds 20
Scripts/chaos --seed 250 --rounds 250 --instances 4    # a piece of the long form: rounds have the seeds 250 to 499
Scripts/chaos --table                                  # what all rounds so far have shown
"""

import argparse
import asyncio
import collections
import json
import pathlib
import shutil
import sys
import tempfile
import traceback

import faults
import patroni
import table
from cluster import Aborted, Cluster
from rounds import Rounds
from world import World

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def arguments():
    parser = argparse.ArgumentParser(
        prog="Scripts/chaos", description="Hurts the service, and looks whether it keeps its word."
    )
    parser.add_argument("--seed", type=int, default=1, help="of the first round; each further one has the next")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--faults", default="all", help=f"of these, with commas between: {', '.join(faults.FAULTS)}")
    parser.add_argument("--instances", type=int, default=2, choices=range(1, 5))
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / ".build/debug/carillon")
    parser.add_argument(
        "--former", type=pathlib.Path, help="the program of the former release, which takes part in upgrades"
    )
    parser.add_argument(
        "--real-leases", action="store_true", help="wait for leases of the dead, a minute, in place of ending them"
    )
    parser.add_argument(
        "--patroni", action="store_true", help="Patroni and etcd do the fail-over, which is the only fault then"
    )
    parser.add_argument("--table", action="store_true", help="show what all rounds so far have shown, and play none")
    return parser.parse_args()


def names(options, world):
    """The faults that are to be played and can be."""
    asked = list(faults.FAULTS) if options.faults == "all" else options.faults.split(",")
    if unknown := set(asked) - set(faults.FAULTS):
        sys.exit(f"error: no such fault: {', '.join(sorted(unknown))}; there are {', '.join(faults.FAULTS)}")
    found = faults.available(world)
    for name in asked:
        if name not in found:
            print(f"    {name} is left out: {faults.FAULTS[name].unless(world)}", flush=True)
    if not (played := [name for name in asked if name in found]):
        sys.exit("error: no fault is left to be played")
    return played


def repeat(options, seed):
    words = [f"Scripts/chaos --seed {seed} --rounds 1 --instances {options.instances}"]
    if options.patroni:
        words.append("--patroni")
    elif options.faults != "all":
        words.append(f"--faults {options.faults}")
    if options.former:
        words.append(f"--former {options.former}")
    return " ".join(words)


def tell(options, found, archive):
    mark = "✘" if found["findings"] else "✔"
    print(
        f"{mark} {found['seed']} {','.join(found['faults'])}: {found['events']} events, "
        f"{found['deliveries']} notifications, {found['messages']} messages, {found['duplicates']} duplicates, "
        f"quiet after {found['quiet']:.1f} s ({found['seconds']} s)",
        flush=True,
    )
    for text in found["findings"]:
        print(f"    {text[:2000]}", flush=True)
    if found["findings"]:
        print(f"    again: {repeat(options, found['seed'])}\n    logs: {archive / str(found['seed'])}", flush=True)


async def play_on(world, options, seeds, played, results):
    """Plays rounds on a world, whose seeds go as they are over; answers whether something was found."""
    rounds, failed = Rounds(world, names(options, world), results), False
    last = seeds[-1]
    while seeds:
        found = await rounds.play(seeds[0], last)
        seeds.popleft()
        played.append(found)
        with open(results / "rounds.jsonl", "a") as file:
            file.write(json.dumps(found) + "\n")
        tell(options, found, results)
        failed = failed or bool(found["findings"])
    for text in await rounds.finish():
        print(f"✘ at the end: {text}", flush=True)
        failed = True
    return failed


async def play(options, folder, seeds, played):
    """Plays rounds on a world of their own; answers whether something failed."""
    results = ROOT / ".build/chaos"
    results.mkdir(parents=True, exist_ok=True)
    cluster = patroni.PatroniCluster if options.patroni else Cluster
    world = World(options.program, options.former, ROOT, folder, options.instances, options.real_leases, cluster)
    is_up = False
    try:
        await world.start()
        is_up = True
        return await play_on(world, options, seeds, played, results)
    except Exception as error:
        traceback.print_exc()
        print("\n".join(world.findings), flush=True)
        shutil.copytree(folder, results / "broken", dirs_exist_ok=True, ignore=shutil.ignore_patterns("one", "two"))
        if is_up and seeds and isinstance(error, Aborted):
            seed = seeds.popleft()
            print(f"– {seed} was aborted, and does not count. Again: {repeat(options, seed)}", flush=True)
        else:
            seeds.clear()
        return True
    finally:
        await world.stop()
        print(f"Answers: {dict(world.answers)}", flush=True)


def main():
    options = arguments()
    if options.patroni:
        options.faults = "failover"
        if lacking := patroni.missing():
            sys.exit(f"error: {', '.join(lacking)} cannot be found: Debian's packages are patroni and etcd-server")
    if options.table:
        print(table.write(table.read(ROOT / ".build/chaos/rounds.jsonl")))
        return 0
    seeds, played, failed = collections.deque(range(options.seed, options.seed + options.rounds)), [], False
    while seeds:
        # What comes behind an aborted round is played on servers that work.
        with tempfile.TemporaryDirectory(prefix="chaos-", dir="/tmp", ignore_cleanup_errors=True) as name:
            folder = pathlib.Path(name)
            folder.chmod(0o755)
            failed = asyncio.run(play(options, folder, seeds, played)) or failed
    print(f"\n{table.write(played)}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
