"""Checks that the statements of CarillonStore also run where the tables of a schema lie on another server than the one that is asked.

Four rules, see docs/decisions/0036-portable-statements.md:

1. No function whose answer depends on when or where it is asked in CASE, COALESCE, RETURNING or DO UPDATE of a statement that changes rows,
   and none with a column in SET. `timestamptz ± interval` is one. A volatile one, such as nextval, nowhere in UPDATE or DELETE.
2. None at all in INSERT ... SELECT that reads a table, nor in the default of a column of its table that it does not name.
3. No subquery on a table in RETURNING, DO UPDATE or VALUES.
4. INSERT ... SELECT FROM unnest reads a table as well: it joins `networks`.

Reads string literals of Swift as they stand there, with the fragments that they name put in where those are literals, too; and from the
migrations which defaults there are. EXCEPTIONS are named by file, statement and rule.
"""

import pathlib
import re
import sys
from typing import Iterator, NamedTuple

# Where a rule is broken on purpose, by file, statement and rule.
COPIED = "rows are inserted as they are handed over, and compared with nothing: a copy is right, and no row costs a look at networks"
ANSWERED = "runs where both tables are of one schema, as they are: who deletes the row looks at the other table, too"
EXCEPTIONS: dict[tuple[str, str, int], str] = {
    ("AddressRegistry.swift", "INSERT devices", 4): COPIED,
    ("FeedbackWriter.swift", "INSERT relayed", 4): COPIED,
    ("LaneRows.swift", "INSERT lane_reports", 4): COPIED,
    ("LaneRows.swift", "INSERT lanes", 4): COPIED,
    ("PostgresDeviceStore.swift", "DELETE devices", 3): ANSWERED,
    ("PostgresFaceStore.swift", "INSERT message_texts", 4): COPIED,
    ("PostgresJournalStore.swift", "INSERT journal", 4): COPIED,
    ("PostgresOutbox+Settle.swift", "INSERT dead_letters", 4): COPIED,
    ("PostgresOutbox+Settle.swift", "INSERT outcomes", 4): COPIED,
    ("PostgresTagStore+Subscriptions.swift", "DELETE subscriptions", 3): ANSWERED,
    ("StatisticsSweep.swift", "INSERT statistics_hours", 4): COPIED,
    ("StoppedUsers.swift", "INSERT stopped_users", 4): COPIED,
    ("StoredDelivery.swift", "INSERT deliveries", 4): COPIED,
}

VOLATILE = r"\b(?:nextval|currval|lastval|next_mark|flight_mark|clock_timestamp|random|gen_random_uuid|set_config|pg_current_xact_id)\s*\("
STABLE = (
    r"\b(?:now|transaction_timestamp|statement_timestamp|current_setting|pg_current_snapshot|timeofday)\s*\("
    r"|\b(?:current_timestamp|localtimestamp|current_date)\b"
)
# A sum of a timestamp without time zone depends on nothing.
SUM_IN_UTC = re.compile(r"AT TIME ZONE 'UTC'\s*[+-]\s*(?:\$\w*\s*\*\s*)?interval '[^']*'", re.I)
SUM_OF_NOW = re.compile(r"now\(\)\s*[+-]\s*(?:\$\w*\s*\*\s*)?interval '[^']*'", re.I)
SUM = re.compile(r"[+-]\s*(?:[\w.$]+\s*\*\s*)?interval\s*'|\*\s*interval\s*'", re.I)
LITERAL = re.compile(r'#*"""|#*"')
TOKEN = re.compile(r"""'(?:[^']|'')*'|"[^"]*"|[\w$.:]+|<>|\S""")


class Finding(NamedTuple):
    file: str
    statement: str
    rule: int
    reason: str


# --- Swift ------------------------------------------------------------------------------------------------------------------


def interpolation_end(text: str, start: int) -> int:
    """Behind the parenthesis that closes the one before `start`."""
    depth, at = 1, start
    while depth:
        if text[at] == '"':
            at = literal_at(text, at)[1]
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


def literal_at(text: str, start: int) -> tuple[list[str], int]:
    """The pieces of a literal that begins here, text and what is put in between in turn; and where it ends."""
    mark = '"""' if text.startswith('"""', start) else '"'
    pieces, piece, at = [], "", start + len(mark)
    while not text.startswith(mark, at):
        if text.startswith("\\(", at):
            end = interpolation_end(text, at + 2)
            pieces += [piece, text[at + 2 : end - 1]]
            piece, at = "", end
        elif text[at] == "\\":
            piece, at = piece + text[at + 1], at + 2
        else:
            piece, at = piece + text[at], at + 1
    return pieces + [piece], at + len(mark)


def literals(text: str) -> Iterator[tuple[int, list[str]]]:
    at = 0
    while True:
        quote, comment = text.find('"', at), re.compile(r"//[^\n]*").search(text, at)
        if quote < 0:
            return
        if comment and comment.start() < quote:
            at = comment.end()
            continue
        pieces, at = literal_at(text, quote)
        yield quote, pieces


def fragments(text: str) -> dict[str, list[str]]:
    """The literals that have a name: of a constant or variable, and the first in a function's body."""
    found: dict[str, list[str]] = {}
    all_literals = list(literals(text))
    for declaration in re.finditer(r"\b(?:let|var|func) (\w+)[^\n=]*?SQL\??\s*(?:=|\{)", text):
        following = next((pieces for start, pieces in all_literals if start >= declaration.end()), None)
        if following is not None:
            found.setdefault(declaration.group(1), following)
    return found


def composed(pieces: list[str], own: dict[str, list[str]], others: dict[str, list[str]], depth: int = 0) -> str:
    text = ""
    for index, piece in enumerate(pieces):
        if index % 2 == 0:
            text += piece
            continue
        if not piece.startswith("sql:"):
            text += '"name"' if piece.startswith("identifier:") else "$1"
            continue
        name = re.match(r"sql:\s*(?:Self\.|\w+\.|\.)?(\w+)", piece)
        known = name and (own.get(name.group(1)) or others.get(name.group(1)))
        inner = composed(known, own, others, depth + 1) if known and depth < 5 else " $ "
        text += inner
        for start, argument in literals(piece):
            # A choice between two, or what a function is handed: it stands there, too.
            if any(character.isalpha() for character in "".join(argument)) and len(argument) == 1:
                text += f" /* {argument[0]} */ " if known else f" {argument[0]} "
    return text


# --- SQL --------------------------------------------------------------------------------------------------------------------


def tokens_of(sql: str) -> list[str]:
    return TOKEN.findall(re.sub(r"--[^\n]*|/\*.*?\*/", " ", sql, flags=re.S))


def closing(tokens: list[str], start: int) -> int:
    """Where the parenthesis closes that stands before `start`, or the end."""
    depth = 0
    for at in range(start, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[at], 0)
        if depth < 0:
            return at
    return len(tokens)


def changes(tokens: list[str]) -> Iterator[list[str]]:
    """Each INSERT, UPDATE and DELETE, also those in a WITH, up to where it ends."""
    for at, token in enumerate(tokens):
        word = token.upper()
        before = tokens[at - 1].upper() if at else ""
        if word == "UPDATE" and before in ("FOR", "KEY", "DO"):
            continue
        following = tokens[at + 1].upper() if at + 1 < len(tokens) else ""
        if word == "UPDATE" and (following in ("OF", "SKIP", "") or not re.match(r'[\w"]', following)):
            continue
        if word in ("INSERT", "DELETE") and following not in ("INTO", "FROM"):
            continue
        if word in ("INSERT", "UPDATE", "DELETE"):
            yield tokens[at : closing(tokens, at)]


def clauses(tokens: list[str]) -> dict[str, list[str]]:
    """What stands behind each keyword of a statement itself; `set` of DO UPDATE is its own."""
    found: dict[str, list[str]] = {"": []}
    name, depth = "", 0
    for at, token in enumerate(tokens):
        word = token.upper()
        if depth == 0:
            if word in ("VALUES", "SELECT", "WHERE", "RETURNING", "SET", "FROM", "USING"):
                if name.startswith("conflict") and word in ("SET", "WHERE"):
                    name = "conflict"
                elif not (word == "FROM" and name in ("", "set") and tokens[0].upper() == "DELETE"):
                    name = word.lower()
            elif word == "CONFLICT" and tokens[at - 1].upper() == "ON":
                name = "conflict"
        depth += {"(": 1, ")": -1}.get(token, 0)
        found.setdefault(name, []).append(token)
    return found


def joined(tokens: list[str]) -> str:
    return re.sub(r"\s+([(),])", r"\1", re.sub(r"\(\s+", "(", " ".join(tokens))).replace("now( )", "now()")


def reads_table(tokens: list[str], withs: set[str]) -> bool:
    for at, token in enumerate(tokens[:-1]):
        if token.upper() in ("FROM", "JOIN", "USING"):
            source = tokens[at + 1]
            if source.upper() == "DISTINCT" or tokens[at - 1].upper() == "DISTINCT":
                continue
            if source.upper() in ("LATERAL", "(", "UNNEST", "VALUES", "SELECT") or source.startswith("$"):
                continue
            if at + 2 < len(tokens) and tokens[at + 2] == "(":  # a function
                continue
            if source not in withs and re.match(r'[\w"]', source):
                return True
    return False


def depends(text: str) -> bool:
    text = SUM_IN_UTC.sub(" ", text)
    return bool(re.search(STABLE, text, re.I) or re.search(VOLATILE, text, re.I) or SUM.search(text))


def enclosed(tokens: list[str]) -> Iterator[list[str]]:
    """What stands in each CASE and COALESCE."""
    for at, token in enumerate(tokens):
        if token.upper() == "CASE":
            depth = 0
            for end in range(at, len(tokens)):
                depth += {"CASE": 1, "END": -1}.get(tokens[end].upper(), 0)
                if depth == 0:
                    yield tokens[at:end]
                    break
        elif token.upper() == "COALESCE":
            yield tokens[at : closing(tokens, at + 2)]


def faults(sql: str, defaults: dict[str, set[str]]) -> Iterator[tuple[str, int, str]]:
    tokens = tokens_of(sql)
    begins = ("(", "MATERIALIZED", "NOT")
    withs = {before for before, token, after in zip(tokens, tokens[1:], tokens[2:]) if token.upper() == "AS" and after.upper() in begins}
    for statement in changes(tokens):
        verb = statement[0].upper()
        table = statement[1 if verb == "UPDATE" else 2].strip('"')
        parts = clauses(statement)
        name = f"{verb} {table}"

        def text(*names: str) -> str:
            return joined([token for part in names for token in parts.get(part, [])])

        if depends(text("returning")):
            yield name, 1, "a function in RETURNING"
        if depends(text("conflict")):
            yield name, 1, "a function in DO UPDATE"
        if verb == "UPDATE":
            for part in enclosed(parts.get("set", [])):
                if depends(joined(part)):
                    yield name, 1, f"a function in {part[0].upper()}"
            if SUM.search(SUM_OF_NOW.sub(" ", SUM_IN_UTC.sub(" ", text("set")))):
                yield name, 1, "a sum with a column in SET"
        if verb in ("UPDATE", "DELETE") and re.search(VOLATILE, text("set", "where"), re.I):
            yield name, 1, "a volatile function"
        for part in ("returning", "conflict", "values"):
            inside = parts.get(part, [])
            if "SELECT" in [token.upper() for token in inside] and reads_table(inside, set()):
                yield name, 3, f"a subquery in {part.replace('conflict', 'do update').upper()}"
        if verb != "INSERT" or "select" not in parts:
            continue
        source = [token for part in ("select", "from", "where") for token in parts.get(part, [])]
        if reads_table(source, withs):
            if depends(joined(source)):
                yield name, 2, "a function in INSERT ... SELECT that reads a table"
            head = joined(parts[""])
            missing = sorted(column for column in defaults.get(table, ()) if not re.search(rf"\b{column}\b", head))
            if missing:
                yield name, 2, f"{', '.join(missing)} by default in INSERT ... SELECT that reads a table"
        elif "UNNEST" in [token.upper() for token in source]:
            yield name, 4, "INSERT ... SELECT FROM unnest alone"


def volatile_defaults(migrations: list[str]) -> dict[str, set[str]]:
    """The columns of each table whose default depends on when or where it is asked, as the migrations leave them."""
    found: dict[str, set[str]] = {}
    for text in migrations:
        text = re.sub(r"--[^\n]*", "", text)
        for table, body in re.findall(r"CREATE TABLE (\w+) \((.*?)\n\)", text, re.S):
            for line in body.splitlines():
                if match := re.match(r"\s*(\w+)\s.*DEFAULT\s+(\w+\()", line):
                    if depends(match.group(2)):
                        found.setdefault(table, set()).add(match.group(1))
        for table, body in re.findall(r"ALTER TABLE (\w+)\s(.*?);", text, re.S):
            for column, default in re.findall(r"(?:ADD COLUMN|ALTER COLUMN) (\w+)[^,]*?DEFAULT\s+(\w+\()", body):
                if depends(default):
                    found.setdefault(table, set()).add(column)
            for column in re.findall(r"ALTER COLUMN (\w+) DROP DEFAULT", body):
                found.get(table, set()).discard(column)
    return found


# --- All of it --------------------------------------------------------------------------------------------------------------


def findings(folder: pathlib.Path, migrations: pathlib.Path) -> tuple[list[Finding], int]:
    defaults = volatile_defaults([path.read_text() for path in sorted(migrations.glob("*.sql"))])
    texts = {path.name: path.read_text() for path in sorted(folder.rglob("*.swift"))}
    shared: dict[str, list[str]] = {}
    for text in texts.values():
        for name, pieces in fragments(text).items():
            shared.setdefault(name, pieces)
    found, count = [], 0
    for file, text in texts.items():
        own = fragments(text)
        for _, pieces in literals(text):
            sql = composed(pieces, own, shared)
            if not re.search(r"\b(?:INSERT INTO|UPDATE|DELETE FROM)\b", pieces[0] + "".join(pieces[2::2])):
                continue
            count += sum(1 for _ in changes(tokens_of(sql)))
            found += [Finding(file, *fault) for fault in faults(sql, defaults)]
    return found, count


def main() -> int:
    root = pathlib.Path(__file__).resolve().parents[2]
    found, count = findings(root / "Sources/CarillonStore", root / "Migrations")
    wrong = [one for one in found if one[:3] not in EXCEPTIONS]
    needless = EXCEPTIONS.keys() - {one[:3] for one in found}
    for one in wrong:
        print(f"{one.file}: {one.statement}: rule {one.rule}: {one.reason}")
    for file, statement, rule in needless:
        print(f"{file}: {statement}: rule {rule}: an exception that is none")
    print(f"{count} statements that change rows, {len(wrong)} against the rules, {len(EXCEPTIONS) - len(needless)} exceptions")
    # Who finds no statements any more finds nothing wrong with them.
    return 1 if wrong or needless or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
