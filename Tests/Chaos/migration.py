"""Migrations that are killed, in databases of their own."""

import asyncio
import contextlib
import subprocess
import time

from cluster import AWAY

# What a database looks like, but for what the tests have added to theirs. In a new database files are run whole, and PostgreSQL
# names the indexes of partitions; where a killed migration goes on they are made one by one, with names of their own.
SHAPE = """
SELECT 'column',
       table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || coalesce(column_default, '')
FROM information_schema.columns
WHERE table_schema = 'public' AND column_name <> 'chaos_holder' AND table_name <> 'chaos_leases' AND table_name !~ '_[0-9]{8}$'
UNION ALL
SELECT 'index',
       CASE WHEN relispartition THEN regexp_replace(pg_get_indexdef(indexrelid), ' INDEX [^ ]+ ON ', ' INDEX ON ')
            ELSE pg_get_indexdef(indexrelid) END || indisvalid
FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE relnamespace = 'public'::regnamespace AND relname !~ '_[0-9]{8}'
ORDER BY 1, 2
"""


async def kill_migration(world, rng):
    """Kills the migration of an empty database up to three times, and looks what comes of it when it is let be."""
    database = f"migration_{time.time_ns()}"
    await world.cluster.query(f"CREATE DATABASE {database}")
    environment = world.fleet.instances[0].environment("migration", [world.cluster.primary.port])
    environment["CARILLON_DATABASE_URL"] = environment["CARILLON_DATABASE_URL"].replace("/carillon?", f"/{database}?")
    for _ in range(rng.randint(1, 3)):
        process = await migrate(world, environment)
        try:
            await asyncio.wait_for(process.wait(), rng.uniform(0.05, 1.5))
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    await finish(world, environment, database)


async def migrate(world, environment):
    port = world.cluster.primary.port
    head, _, tail = environment["CARILLON_DATABASE_URL"].partition("@")
    environment["CARILLON_DATABASE_URL"] = f"{head}@127.0.0.1:{port}/{tail.partition('/')[2]}"
    return await asyncio.create_subprocess_exec(
        str(world.program),
        "migrate",
        cwd=world.root,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


async def finish(world, environment, database):
    """Migrates to the end, whatever else happens to the database meanwhile."""
    end = time.monotonic() + 60
    while True:
        process = await migrate(world, environment)
        _, text = await process.communicate()
        if process.returncode == 0:
            break
        if time.monotonic() > end:
            return world.find("migration", f"{database} cannot be migrated: {text.decode()[-500:]}")
        await asyncio.sleep(0.3)
    expected, found = await shape(world, "carillon"), await shape(world, database)
    if different := set(expected) ^ set(found):
        world.find("migration", f"a killed one left something else: {sorted(different)[:5]}")
    await world.cluster.query(f"DROP DATABASE {database} WITH (FORCE)")


async def shape(world, database):
    end = time.monotonic() + 60
    while True:
        try:
            async with await world.cluster.primary.connect(database) as session:
                return await (await session.execute(SHAPE)).fetchall()
        except AWAY:
            if time.monotonic() > end:
                raise
            await asyncio.sleep(0.2)
