import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlflow_tfexec.records.spec import PRESETS
from mlflow_tfexec.statistics.looks import ERROR, error_at


@pytest.mark.parametrize(
    ("looks", "errors"),
    [
        ((), {1: 0.05, 3: 0.05, 20: 0.05}),
        ((3,), {1: 0.05, 3: 0.05, 4: 0.05}),
        ((3, 5), {1: 0.01, 3: 0.01, 4: 0.04, 5: 0.04, 9: 0.04}),
        ((3, 4, 5), {3: 0.01, 4: 0.01, 5: 0.03}),
        ((5, 10, 15, 20), {5: 0.05 / 6, 6: 0.05 / 6, 10: 0.05 / 6, 15: 0.05 / 6, 16: 0.025, 20: 0.025, 21: 0.025}),
    ],
)
def test_the_table_of_errors(looks, errors):
    assert {launches: error_at(launches, looks) for launches in errors} == pytest.approx(errors, rel=1e-12)


@given(st.lists(st.integers(1, 50), unique=True, max_size=12).map(sorted))
def test_all_looks_together_spend_5_of_100(looks):
    spent = [error_at(look, looks) for look in looks] or [error_at(3, looks)]

    assert sum(spent) == pytest.approx(ERROR)
    assert sum(spent) <= ERROR + 1e-15
    assert min(spent) > 0


@given(st.lists(st.integers(1, 50), unique=True, min_size=2, max_size=12).map(sorted))
def test_the_last_look_has_at_least_half(looks):
    assert error_at(looks[-1], looks) >= ERROR / 2 - 1e-15


@given(st.lists(st.integers(1, 50), unique=True, min_size=1, max_size=12).map(sorted), st.integers(0, 60))
def test_between_two_looks_the_next_ones_share_counts_and_beyond_the_last_the_lasts(looks, launches):
    following = next((look for look in looks if look >= launches), looks[-1])

    assert error_at(launches, looks) == error_at(following, looks)


@pytest.mark.parametrize("preset", PRESETS.values())
def test_every_preset_spends_no_more_than_5_of_100(preset):
    assert sum(error_at(look, preset.looks) for look in preset.looks) <= ERROR + 1e-15
