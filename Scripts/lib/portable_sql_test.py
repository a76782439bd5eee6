"""Tests of portable_sql.py: what it has to find, and what it has to leave alone."""

import sys

import portable_sql

DEFAULTS = {"members": {"since_event"}, "users": {"added_at"}}

# Statements, each with the rules that it breaks.
SAMPLES: list[tuple[str, set[int]]] = [
    # 1: CASE, COALESCE, sums with columns, volatile functions, RETURNING, DO UPDATE
    ("UPDATE devices d SET state_at = CASE WHEN t.state IS NULL THEN d.state_at ELSE now() END FROM target t", {1}),
    ("UPDATE devices d SET seen_at = coalesce(d.seen_at, CURRENT_TIMESTAMP)", {1}),
    ("UPDATE deliveries d SET run_at = now() + n.delay * interval '1 millisecond' FROM unnest($1) AS n (delay)", {1}),
    ("UPDATE members m SET facts_at = t.over_at + interval '1 microsecond' FROM target t", {1}),
    ("UPDATE endpoints SET revision = nextval('endpoint_revisions') WHERE network_id = $1", {1}),
    ("DELETE FROM endpoints WHERE revision < nextval('endpoint_revisions')", {1}),
    ("UPDATE inbox i SET run_at = now() FROM picked p RETURNING i.received_at < now() - $1 * interval '1 second'", {1}),
    ("DELETE FROM dead_letters WHERE letter_id = $1 RETURNING event_id, now(), devices", {1}),
    ("INSERT INTO withdrawals VALUES ($1, $2) ON CONFLICT (event_id) DO UPDATE SET withdrawn_at = now()", {1}),
    ("INSERT INTO keys AS k VALUES ($1) ON CONFLICT (id) DO UPDATE SET a = EXCLUDED.a WHERE k.at < now()", {1}),
    ("INSERT INTO keys AS k VALUES ($1) ON CONFLICT (id) DO UPDATE SET a = 1 WHERE k.at < EXCLUDED.at - interval '7 days'", {1}),
    ("WITH gone AS (UPDATE a SET b = coalesce(b, now()) RETURNING c) SELECT c FROM gone", {1}),
    # 2: INSERT ... SELECT that reads a table
    ("INSERT INTO members (network_id, since_event) SELECT n.id, next_mark() FROM unnest($1) AS n (id) JOIN users u ON true", {2}),
    ("INSERT INTO members (network_id) SELECT n.id FROM unnest($1) AS n (id) JOIN networks w ON true", {2}),
    ("INSERT INTO users (network_id) SELECT $1 WHERE NOT EXISTS (SELECT FROM users WHERE deleted)", {2}),
    ("INSERT INTO users AS u (network_id, added_at) SELECT n.id, $1 FROM unnest($2) AS n (id) "
     "CROSS JOIN LATERAL (SELECT c.at + interval '1 day' FROM channels c LIMIT 1) AS c", {2}),
    # 3: subqueries
    ("INSERT INTO users (id) VALUES ($1) RETURNING NOT EXISTS (SELECT FROM former WHERE NOT deleted)", {3}),
    ("INSERT INTO users (id, wipes) VALUES ($1, (SELECT max(wipes) FROM users))", {3}),
    ("INSERT INTO subscriptions AS s VALUES ($1) ON CONFLICT (id) DO UPDATE SET a = 1 WHERE EXISTS (SELECT FROM tags t)", {3}),
    # 4: from unnest alone
    ("INSERT INTO outcomes (network_id) SELECT n.id FROM unnest($1) AS n (id)", {4}),
    ("INSERT INTO tags AS t (id) SELECT n.id FROM unnest($1) AS n (id) ON CONFLICT (id) DO UPDATE SET at = now()", {1, 4}),
    # Nothing
    ("UPDATE networks SET toggles = $1, toggles_updated_at = now(), toggles_version = toggles_version + 1", set()),
    ("UPDATE inbox i SET run_at = now() + $1 * interval '1 millisecond' WHERE i.run_at <= now()", set()),
    ("UPDATE members m SET facts_at = ((t.over_at AT TIME ZONE 'UTC' + interval '1 microsecond') AT TIME ZONE 'UTC') FROM t", set()),
    ("UPDATE deliveries d SET expires_at = least(d.expires_at, now()) FROM (SELECT id FROM deliveries FOR NO KEY UPDATE) AS w", set()),
    ("INSERT INTO withdrawals VALUES ($1, now()) ON CONFLICT (id) DO UPDATE SET withdrawn_at = EXCLUDED.withdrawn_at", set()),
    ("WITH gone AS (DELETE FROM deliveries RETURNING size) INSERT INTO outcomes (at, size) SELECT now(), size FROM gone", set()),
    ("INSERT INTO members (network_id, since_event) SELECT n.id, $2 FROM unnest($1) AS n (id) "
     "CROSS JOIN LATERAL (SELECT FROM networks w WHERE w.network_id = n.id LIMIT 1) AS w", set()),
    ("SELECT nextval('marks'), now()", set()),
    ("SELECT id FROM devices WHERE seen_at < now() - interval '1 day' FOR UPDATE SKIP LOCKED", set()),
]

SWIFT = r'''
enum Example {
    static let fresh: SQL = "coalesce(seen_at, now())"  // "a comment"
    static func after(_ moment: SQL) -> SQL { "\(sql: moment) + interval '1 day'" }
    func write() throws {
        try execute("""
            UPDATE devices SET seen_at = \(sql: .fresh), state = \(devices.map { $0.name ?? "none" })
            """)
        try execute("DELETE FROM devices WHERE id = \(id(")")) RETURNING \(sql: .after("seen_at"))")
    }
}
'''


def main() -> int:
    failures = []
    for sql, rules in SAMPLES:
        found = {rule for _, rule, _ in portable_sql.faults(sql, DEFAULTS)}
        if found != rules:
            failures.append(f"{sql}\n  breaks {sorted(rules)}, found {sorted(found)}")
    own = portable_sql.fragments(SWIFT)
    composed = [portable_sql.composed(pieces, own, {}) for _, pieces in portable_sql.literals(SWIFT)]
    found = {(name, rule) for sql in composed for name, rule, _ in portable_sql.faults(sql, DEFAULTS)}
    if found != {("UPDATE devices", 1), ("DELETE devices", 1)}:
        failures.append(f"of Swift: {found}")
    defaults = portable_sql.volatile_defaults(
        ["CREATE TABLE a (\n    b int DEFAULT 1,\n    c timestamptz DEFAULT now() -- d\n);\nALTER TABLE e ADD COLUMN f int, "
         "ADD COLUMN g uuid DEFAULT next_mark();\nALTER TABLE e ALTER COLUMN f SET DEFAULT nextval('s');",
         "ALTER TABLE e ALTER COLUMN g DROP DEFAULT;"]
    )
    if defaults != {"a": {"c"}, "e": {"f"}}:
        failures.append(f"of migrations: {defaults}")
    print("\n".join(failures) or f"{len(SAMPLES) + 2} samples are judged rightly")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
