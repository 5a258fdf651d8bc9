"""Reports made of recordings with known numbers, by name."""

from collections.abc import Callable

import pytest
from report_cases import CASES, make_report, render

from mlflow_tfexec.reports import Table


@pytest.fixture(params=sorted(CASES))
def case(request) -> str:
    return request.param


@pytest.fixture
def report(case) -> Table:
    return make_report(case)


@pytest.fixture
def make() -> Callable[[str], Table]:
    return make_report


@pytest.fixture
def rendered() -> Callable[[str, str], str]:
    return render


@pytest.fixture
def html_of() -> Callable[[str], str]:
    return lambda case: render("html", case)
