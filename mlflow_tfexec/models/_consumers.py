"""Which values an input of a Keras model can take, by the layers that it feeds.

Keras 3 keeps for each operation of a functional model its nodes: the tensors that went in and came out.
Source: keras/src/ops/node.py and keras/src/ops/function.py.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from mlflow_tfexec.models._values import WORDS, Values, below, one_of, texts

# These hand on the numbers that they get, in another shape or type.
_PASSING_ON = frozenset(
    (
        *("InputLayer", "Reshape", "Flatten", "Permute", "RepeatVector", "Concatenate", "Masking", "Identity", "Cast"),
        *("ExpandDims", "Squeeze", "Transpose", "GetItem", "BroadcastTo", "Stack", "Tile", "Repeat", "Ravel", "Copy"),
    )
)

# Attribute that holds how many values there are, by class, and what to call them.
_LIMITS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "Embedding": ("input_dim", "token ids"),
        "ReversibleEmbedding": ("input_dim", "token ids"),
        "CategoryEncoding": ("num_tokens", "whole numbers"),
        "OneHot": ("num_classes", "whole numbers"),
    }
)
_HASHED_BELOW = 1000


def consumed_values(model: Any) -> dict[int, Values]:
    """Say, per `id` of a symbolic input of *model*, what the layer that it feeds can take; others are left out.

    Of several embeddings that one input feeds, the smallest decides.
    """
    found: dict[int, Values] = {}
    for tensor in getattr(model, "inputs", None) or ():
        limits = sorted(_consumers(model, tensor), key=lambda pair: pair[0])
        if limits:
            found[id(tensor)] = limits[0][1]
    return found


def layers_that_take_text(model: Any) -> list[str]:
    """Name the layers of a functional *model* that its inputs of text go into."""
    graph = getattr(model, "_functional", None) or model
    texts_in = [one for one in getattr(model, "inputs", None) or () if str(getattr(one, "dtype", None)) == "string"]
    return list(dict.fromkeys(operation.name for one in texts_in for operation in _takers(graph, one)))


def _takers(graph: Any, tensor: Any) -> Iterator[Any]:
    """Follow one tensor to everything that does more with it than hand it on."""
    for operation, _, outputs in _uses(graph, tensor):
        if type(operation).__name__ in _PASSING_ON:
            for output in outputs:
                yield from _takers(graph, output)
        else:
            yield operation


def _consumers(model: Any, tensor: Any) -> Iterator[tuple[int, Values]]:
    """Follow one tensor to everything that limits its values: (how many, which)."""
    graph = getattr(model, "_functional", None) or model
    seen: set[int] = set()
    waiting = [tensor]
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        for operation, place, outputs in _uses(graph, current):
            if type(operation).__name__ in _PASSING_ON:
                waiting.extend(outputs)
            elif getattr(operation, "inputs", None) and hasattr(operation, "layers"):
                inner = operation.inputs
                yield from _consumers(operation, inner[min(place, len(inner) - 1)])
            else:
                yield from _limits(operation, str(current.dtype))


def _uses(graph: Any, tensor: Any) -> Iterator[tuple[Any, int, list[Any]]]:
    """List what takes *tensor* inside a functional model: operation, place among its inputs, its outputs."""
    for operation in getattr(graph, "operations", None) or ():
        for node in getattr(operation, "_inbound_nodes", ()):
            taken = [id(one) for one in getattr(node, "input_tensors", ())]
            if id(tensor) in taken:
                yield operation, taken.index(id(tensor)), list(node.output_tensors)


def _limits(layer: Any, dtype: str) -> Iterator[tuple[int, Values]]:
    """Say what one layer can take; of a layer made of layers, what any embedding in it can."""
    name = type(layer).__name__
    if name in {"IntegerLookup", "StringLookup", "TextVectorization"}:
        yield from _vocabulary(layer, dtype)
    elif name == "Hashing" and dtype != "string":
        yield _HASHED_BELOW, below(_HASHED_BELOW, "whole numbers")
    elif name in _LIMITS:
        yield from _limit(layer, name)
    elif not type(layer).__module__.startswith("keras."):
        for inner in getattr(layer, "_flatten_layers", lambda **_: ())(include_self=False):
            if type(inner).__name__ == "Embedding":
                yield from _limit(inner, "Embedding")


def _limit(layer: Any, name: str) -> Iterator[tuple[int, Values]]:
    attribute, what = _LIMITS[name]
    limit = getattr(layer, attribute, None)
    if isinstance(limit, int) and limit > 0:
        yield limit, below(limit, what)


def _vocabulary(layer: Any, dtype: str) -> Iterator[tuple[int, Values]]:
    known = list(layer.get_vocabulary(include_special_tokens=False))
    says = f"{len(known)} tokens in the vocabulary of layer {layer.name!r}"
    if type(layer).__name__ == "TextVectorization":
        words = [str(word) for word in known] or list(WORDS)
        yield len(words), texts(words, f"texts of the {says}" if known else f"texts of a list of {len(WORDS)} words")
    elif known:
        # A lookup of numbers keeps NumPy's own, which a string cannot be made of.
        plain = [str(word) for word in known] if dtype == "string" else [int(word) for word in known]
        yield len(known), one_of(plain, f"one of the {says}")
