"""Run cases and print a table of what was seen: `python tests/cases/show.py [NAME or FILE…]`.

Takes half a minute a case.
"""

# ruff: noqa: T201 - printing is what this script is for

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from cases.running import bare_lab, complaints, describe, observe
from cases.table import CASES


def main(names: list[str]) -> int:
    """Print one row per case; return 1 if any is not as expected."""
    print("| case | trouble | seen | as expected |\n|---|---|---|---|")
    failed = 0
    for case in CASES:
        if names and not {case.name, case.factory.partition(":")[0]} & set(names):
            continue
        with tempfile.TemporaryDirectory() as directory:
            seen = observe(case, bare_lab(Path(directory) / "lab"))
        wrong = complaints(case, seen)
        failed += bool(wrong)
        verdict = "<br>".join(text.replace("|", "\\|").replace("\n", " ") for text in wrong) or "yes"
        print(f"| {case.name} | {case.trouble} | {describe(seen)} | {verdict} |", flush=True)
    print(f"{failed} not as expected", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
