"""Reads pages of docs/: their code, by the language that it is marked with, and their tables."""

import re

from service import ROOT


class Page:
    def __init__(self, name):
        self.text = (ROOT / "docs" / name).read_text()

    def code(self, language):
        """What stands in the page's blocks of a language, in order."""
        return re.findall(rf"^```{language}\n(.*?)^```$", self.text, re.M | re.S)

    def blocks(self, section):
        """The commands of a section, in order, also those that stand in a list."""
        text = re.search(rf"^##+ {section}\n(.*?)(?=^##+ |\Z)", self.text, re.M | re.S)[1]
        found = [
            "\n".join(line.removeprefix(indent) for line in code.split("\n"))
            for indent, code in re.findall(r"^( *)```sh\n(.*?)^ *```$", text, re.M | re.S)
        ]
        assert found, f"no commands in {section}"
        return found

    def table(self, first):
        """The rows of the table whose first column is so called, each as its cells by their columns."""
        lines = iter(self.text.splitlines())
        head = next(line for line in lines if line.startswith(f"| {first} |"))
        columns = cells(head)
        next(lines)
        rows = []
        for line in lines:
            if not line.startswith("|"):
                break
            rows.append(dict(zip(columns, cells(line), strict=True)))
        return rows


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
