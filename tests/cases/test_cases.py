"""Models with every kind of trouble go through the real command, and each mode ends as the table says."""

import pytest
from cases.case import HERE
from cases.running import bare_lab, complaints, observe
from cases.table import CASES


def _title(case):
    return f"{case.name}: {case.trouble}"


def test_there_are_at_least_forty_models_and_a_dozen_run_in_ci():
    assert len({case.factory for case in CASES}) >= 40
    assert 10 <= sum(case.in_ci for case in CASES) <= 15
    assert len({_title(case) for case in CASES}) == len(CASES)


def test_every_model_of_the_directory_is_a_case():
    functions = {
        f"{file.stem}:{line[4:-3]}"
        for file in HERE.glob("case_*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("def ") and line.endswith("():") and not line.startswith("def _")
    }
    assert functions == {case.factory for case in CASES}


@pytest.mark.tf
@pytest.mark.parametrize(
    "case", [pytest.param(case, id=_title(case), marks=() if case.in_ci else pytest.mark.slow) for case in CASES]
)
def test_a_case_is_told_as_the_table_says(case, tmp_path):
    assert complaints(case, observe(case, bare_lab(tmp_path / "lab"))) == []
