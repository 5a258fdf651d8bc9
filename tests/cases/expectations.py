"""What cases have in common: which modes end well, and how the others are lost."""

from collections.abc import Mapping

from cases.case import OK, Expect

ALL_OK = {"eager": OK, "graph": OK, "xla": OK}
FULL = {"eager": OK, "graph": OK, "graph_nojit": OK, "xla": OK, "graph_control": OK}
DIFFERS = Expect("outputs_differ", words=("outputs differ from eager",))
REFUSED: Mapping[str, Expect] = {}


def findings(*codes: str) -> frozenset[str]:
    """Give findings as `code` or `code mode`."""
    return frozenset(codes)


def no_xla(
    cause: str, op: str | None, *, words: tuple[str, ...] = (), source: str | None = None, layer: str | None = None
):
    """Expect eager and graph to do, and XLA to lack an operation."""
    said = words or ("unsupported operations", (op or "").partition(",")[0])
    failure = Expect("compile_failed", words=said, cause=cause, op=op, source=source, layer=layer)
    return {"eager": OK, "graph": OK, "xla": failure}


def no_graph(cause: str | None, *words: str, source: str, layer: str | None = None):
    """Expect that only eager does: the model cannot be traced."""
    failure = Expect("trace_failed", words=words, cause=cause, source=source, layer=layer)
    return {"eager": OK, "graph": failure, "xla": failure}


def lost(mode: str, status: str, *words: str, **facts: str):
    """Expect one mode to be lost, and the others not."""
    return {**ALL_OK, mode: Expect(status, words=words, **facts)}
