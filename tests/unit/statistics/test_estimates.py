import math
import statistics

import numpy as np
import pytest
import scipy.stats

from mlflow_tfexec.statistics.dependence import autocorrelation, effective_rounds
from mlflow_tfexec.statistics.estimates import summarize_latency
from mlflow_tfexec.statistics.rounds import Rounds

MS = 1_000_000


def one_call_per_block(*launches_ms):
    series = [np.array(launch) * MS for launch in launches_ms]
    return Rounds(medians_ns={"xla": dict(enumerate(series))}, calls_ns={"xla": dict(enumerate(series))})


def test_median_is_the_geometric_mean_over_launches():
    """Medians over rounds are 4 and 9; their geometric mean is 6."""
    latency = summarize_latency(one_call_per_block([1, 4, 100], [9, 9, 9]), "xla")

    assert latency.median == pytest.approx(6)
    assert (latency.launches, latency.rounds, latency.calls) == (2, 6, 6)


def test_median_agrees_with_scipy_for_even_rounds():
    launches = [[11.1, 12.9, 10.2, 11.8], [13.3, 12.2, 11.0, 12.4]]

    latency = summarize_latency(one_call_per_block(*launches), "xla")

    assert latency.median == pytest.approx(scipy.stats.gmean([np.median(launch) for launch in launches]), rel=1e-12)


def test_median_ignores_one_slow_call():
    calm = summarize_latency(one_call_per_block([5, 5, 5, 5, 5], [5, 5, 5, 5, 5]), "xla")
    disturbed = summarize_latency(one_call_per_block([5, 5, 500, 5, 5], [5, 5, 5, 5, 5]), "xla")

    assert disturbed.median == calm.median == pytest.approx(5)
    assert disturbed.mean == pytest.approx(54.5)


def test_interval_is_students_over_the_logs_of_the_launches():
    centers = [10.0, 11.0, 12.5]

    latency = summarize_latency(one_call_per_block(*([center] * 3 for center in centers)), "xla")

    logs = np.log(centers)
    low, high = scipy.stats.t.interval(0.95, 2, logs.mean(), scipy.stats.sem(logs))
    assert (latency.ci95_low, latency.ci95_high) == pytest.approx((math.exp(low), math.exp(high)))


def test_one_launch_has_an_interval_over_its_rounds():
    series = [10.0, 10.1, 10.2, 10.3, 10.4, 10.5, 10.6, 10.7]

    latency = summarize_latency(one_call_per_block(series), "xla")

    assert latency.launches == 1
    assert 8.5 < latency.ci95_low < latency.median < latency.ci95_high < 12.5
    assert latency.median**2 == pytest.approx(latency.ci95_low * latency.ci95_high)


def test_one_launch_of_three_rounds_has_no_interval():
    latency = summarize_latency(one_call_per_block([10.0, 10.1, 10.2]), "xla")

    assert (latency.ci95_low, latency.ci95_high) == (None, None)


def test_equal_times_give_an_interval_of_no_width():
    for latency in (summarize_latency(one_call_per_block(*series), "xla") for series in ([[5.0] * 6], [[5.0], [5.0]])):
        assert latency.ci95_low == latency.median == latency.ci95_high


def test_a_mode_seen_in_one_launch_of_several_has_no_interval():
    """Beside intervals that speak of launches, one over rounds would pass for the same thing."""
    rounds = one_call_per_block([5.0] * 8, [5.0] * 8)
    rounds.medians_ns["late"] = {1: np.linspace(4, 5, 8) * MS}
    rounds.calls_ns["late"] = {1: np.linspace(4, 5, 8) * MS}

    assert summarize_latency(rounds, "late").ci95_low is None
    assert summarize_latency(rounds, "xla").ci95_low is not None


def test_spread_and_quantiles_describe_the_single_calls():
    calls = [float(value) for value in range(1, 101)]

    latency = summarize_latency(one_call_per_block(calls[:50], calls[50:]), "xla")

    cuts = statistics.quantiles(calls, n=100, method="inclusive")
    assert latency.mean == pytest.approx(50.5)
    assert latency.std == pytest.approx(statistics.stdev(calls))
    assert (latency.min, latency.max) == pytest.approx((1, 100))
    assert (latency.p05, latency.p95, latency.p99) == pytest.approx((cuts[4], cuts[94], cuts[98]))


def test_p99_needs_a_hundred_calls():
    assert summarize_latency(one_call_per_block([5.0] * 99), "xla").p99 is None
    assert summarize_latency(one_call_per_block([5.0] * 100), "xla").p99 == pytest.approx(5)


def test_one_call_has_no_standard_deviation():
    latency = summarize_latency(one_call_per_block([5.0]), "xla")

    assert latency.std is None
    assert (latency.calls, latency.rounds, latency.launches) == (1, 1, 1)


def test_a_mode_never_timed_has_no_latency():
    assert summarize_latency(one_call_per_block([5.0]), "eager") is None


def test_missing_rounds_are_no_zeros():
    rounds = one_call_per_block([5.0, math.nan, 7.0])

    latency = summarize_latency(Rounds(rounds.medians_ns, {"xla": {0: np.array([5, 7]) * MS}}), "xla")

    assert latency.median == pytest.approx(6)
    assert latency.rounds == 2


def student(values):
    logs = np.log(values)
    return tuple(np.exp(scipy.stats.t.interval(0.95, len(logs) - 1, logs.mean(), scipy.stats.sem(logs))))


def test_the_figures_of_the_calls_have_students_intervals_over_launches():
    generator = np.random.default_rng(3)
    launches = [np.exp(generator.normal(scale=0.1, size=120)) * (5 + number) for number in range(3)]

    intervals = summarize_latency(one_call_per_block(*launches), "xla").intervals

    expected = {
        "mean": student([launch.mean() for launch in launches]),
        "std": student([launch.std(ddof=1) for launch in launches]),
        "p05": student([np.percentile(launch, 5) for launch in launches]),
        "p95": student([np.percentile(launch, 95) for launch in launches]),
        "p99": student([np.percentile(launch, 99) for launch in launches]),
    }
    assert intervals.keys() == expected.keys()
    for name, ends in expected.items():
        assert intervals[name] == pytest.approx(ends, rel=1e-9)


def test_one_launch_has_no_intervals_over_launches():
    assert summarize_latency(one_call_per_block([5.0, 6.0, 7.0]), "xla").intervals == {}


def test_a_figure_that_one_launch_has_too_few_calls_for_has_no_interval():
    """99 calls in one of them: no p99. One call in one of them: no standard deviation either."""
    almost = summarize_latency(one_call_per_block([5.0, 6.0] * 50, [5.0, 6.0] * 49 + [5.0]), "xla")
    single = summarize_latency(one_call_per_block([5.0, 6.0], [5.0]), "xla")

    assert almost.intervals.keys() == {"mean", "std", "p05", "p95"}
    assert almost.p99 is not None
    assert single.intervals.keys() == {"mean", "p05", "p95"}


def test_a_launch_that_does_not_scatter_leaves_the_deviation_without_an_interval():
    assert "std" not in summarize_latency(one_call_per_block([5.0, 5.0], [5.0, 6.0]), "xla").intervals


def test_dependence_is_that_of_the_log_block_medians_within_launches():
    launches = [[5.0, 6.0, 7.0, 8.0, 9.0, 10.0], [10.0, 9.0, 8.0, 7.0, 6.0, 5.0]]

    latency = summarize_latency(one_call_per_block(*launches), "xla")

    logs = [np.log(launch) for launch in launches]
    assert latency.autocorrelation == pytest.approx(autocorrelation(logs)) == pytest.approx(0.5, abs=0.1)
    assert latency.effective_rounds == pytest.approx(effective_rounds(logs))
    assert 2 <= latency.effective_rounds < 12


@pytest.mark.parametrize("series", [[5.0, 6.0], [5.0] * 10])
def test_too_few_rounds_or_none_that_vary_have_no_dependence(series):
    latency = summarize_latency(one_call_per_block(series), "xla")

    assert latency.autocorrelation is None
    assert latency.effective_rounds is None
