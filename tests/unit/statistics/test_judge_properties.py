"""What no numbers may change in a judgement."""

import dataclasses
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recordings import make_recording

from mlflow_tfexec.records.judgement import INVERSE
from mlflow_tfexec.records.recording import Block
from mlflow_tfexec.statistics.judge import judge


@settings(max_examples=25)
@given(st.permutations(["eager", "graph", "graph_nojit", "xla"]), st.integers(0, 50))
def test_the_order_in_which_modes_were_asked_for_changes_no_claim(modes, seed):
    recording = make_recording(seed=seed, rounds=4, calls=2)
    header = recording.header.model_copy(update={"spec": recording.spec.model_copy(update={"modes": tuple(modes)})})

    claims, again = judge(recording), judge(dataclasses.replace(recording, header=header))

    assert again.ordering == claims.ordering
    assert again.comparisons == claims.comparisons
    assert (again.fastest, again.best_set) == (claims.fastest, claims.best_set)
    assert all(again.mode(mode).letters == claims.mode(mode).letters for mode in modes)


@settings(max_examples=25)
@given(st.lists(st.floats(9, 12), min_size=2, max_size=4), st.integers(0, 50))
def test_renaming_the_modes_renames_them_in_the_line_and_nothing_else(times_ms, seed):
    names, other_names = "abcd"[: len(times_ms)], "pqrs"[: len(times_ms)]

    line, renamed = (
        judge(make_recording(dict(zip(chosen, times_ms, strict=True)), seed=seed, rounds=4, calls=3)).ordering
        for chosen in (names, other_names)
    )

    assert renamed == line.translate(str.maketrans(names, other_names))


@settings(max_examples=25)
@given(st.dictionaries(st.sampled_from("abcde"), st.floats(9, 12), min_size=2), st.integers(0, 50), st.integers(1, 4))
def test_the_line_the_fastest_the_best_and_the_letters_agree_with_the_comparisons(times_ms, seed, launches):
    judgement = judge(make_recording(times_ms, seed=seed, launches=launches, rounds=6, calls=2))

    verdicts = {(c.a, c.b): c.verdict for c in judgement.comparisons}
    verdicts |= {(b, a): INVERSE[verdict] for (a, b), verdict in verdicts.items()}
    parts = re.split(r" ([>=?]) ", judgement.ordering)
    modes, signs = parts[::2], parts[1::2]
    for boundary, sign in enumerate(signs):
        crossing = {verdicts[a, b] for a in modes[: boundary + 1] for b in modes[boundary + 1 :]}
        assert (sign == ">") <= (crossing == {"slower"})
        assert (sign == "=") <= (verdicts[modes[boundary], modes[boundary + 1]] == "equivalent")
    if judgement.fastest is not None:
        assert all(
            verdict in {"slower", "equivalent"} for (_, b), verdict in verdicts.items() if b == judgement.fastest
        )
        assert judgement.fastest in judgement.best_set
    assert set(judgement.best_set) == set(times_ms) - {a for (a, _), verdict in verdicts.items() if verdict == "slower"}
    for (a, b), verdict in verdicts.items():
        assert bool(set(judgement.mode(a).letters) & set(judgement.mode(b).letters)) == (verdict == "equivalent")


@settings(max_examples=15)
@given(st.sampled_from([2, 1000, 2**20]), st.integers(0, 50), st.sampled_from([1, 3]))
def test_scaling_all_times_changes_no_ratio(factor, seed, launches):
    recording = make_recording(seed=seed, rounds=4, calls=2, launches=launches)

    def scaled_line(line):
        if not isinstance(line, Block):
            return line
        return line.model_copy(update={"calls_ns": tuple(ns * factor for ns in line.calls_ns or ())})

    lines = tuple(scaled_line(line) for line in recording.lines)
    plain, scaled = judge(recording), judge(dataclasses.replace(recording, lines=lines))

    assert [c.ratio for c in scaled.comparisons] == pytest.approx([c.ratio for c in plain.comparisons])
    assert scaled.ordering == plain.ordering
    assert scaled.mode("xla").latency_ms.median == pytest.approx(plain.mode("xla").latency_ms.median * factor)
