"""The sets of inputs of one benchmark: made up, or given and used in turn."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from mlflow_tfexec.models._dimensions import DEFAULT_DIMENSIONS, Leaf, fill
from mlflow_tfexec.models._fit import as_given, fit, not_finite
from mlflow_tfexec.models._given import load_sets
from mlflow_tfexec.models._inputs import TensorFacts, hash_inputs, leaves, make_array, map_leaves, to_device, values_of
from mlflow_tfexec.models._reference import LoadedModel
from mlflow_tfexec.models._values import Values
from mlflow_tfexec.records.findings import Finding
from mlflow_tfexec.records.recording import InputFacts
from mlflow_tfexec.records.spec import Spec

Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class InputSets:
    """Every set of inputs, as arguments of a model's step."""

    arrays: Callable[[int], Arguments]
    """Number of a set → arguments, structures of arrays on the host."""
    facts: tuple[InputFacts, ...]
    sha256: str
    given: int | None
    """How many sets were given. None: they are made up."""
    findings: tuple[Finding, ...]
    include_transfer: bool = False

    def tensors(self, number: int) -> Arguments:
        """Give one set on the device."""
        moved: Arguments = to_device(self.arrays(number))
        return moved

    def host_values(self, number: int) -> Arguments:
        """Give one set on the host, as every mode takes it: arrays, and tensors of text, which no accelerator holds."""
        kept: Arguments = map_leaves(
            lambda _, leaf: to_device(leaf) if leaf is not None and leaf.dtype.kind == "O" else leaf,
            self.arrays(number),
        )
        return kept

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Say with an error of the model's that its inputs have dimensions of our choice, if they have."""
        try:
            yield
        except Exception as error:
            filled = next((finding.what for finding in self.findings if finding.code == DEFAULT_DIMENSIONS), None)
            if filled is None or isinstance(error, MemoryError) or type(error).__name__ == "ResourceExhaustedError":
                raise
            raise ValueError(
                f"{filled} With them it raised what follows; give others with --input-shape. "
                f"{type(error).__name__}: {error}"
            ) from error

    def on(self, loaded: LoadedModel) -> LoadedModel:
        """Give *loaded* with these inputs: on the device, or on the host where their way is to be timed."""
        shape = self.facts[0].shape if self.facts else ()
        return replace(
            loaded,
            inputs=self.host_values if self.include_transfer else self.tensors,
            input_facts=self.facts,
            batch_size=shape[0] if shape else None,
            inputs_sha256=self.sha256,
            input_sets=self.given,
            findings=(*loaded.findings, *self.findings),
        )


def inputs_of(arguments: Arguments, spec: Spec, *, values: Mapping[int, Values] | None = None) -> InputSets:
    """Make or load the inputs of a model that says what it takes.

    Args:
        arguments: arguments of the step: structures whose leaves have `shape` (None where a dimension is open), `dtype`
            and perhaps `name`, such as symbolic tensors of Keras or a `tf.TensorSpec`.
        spec: what was asked for.
        values: `id` of a leaf → what it can take. What is not there is drawn as is usual for its dtype and shape.

    Raises:
        ValueError, RequestError: what was asked for, or given, does not fit.
    """
    known = values or {}
    wanted = [Leaf(path, _describe(leaf, known.get(id(leaf)))) for path, leaf in leaves(arguments) if leaf is not None]
    # A single structure that is the only argument has no path of its own, so that what is given need not be wrapped.
    bare = [Leaf(leaf.path[1:], leaf.facts) for leaf in wanted] if len(arguments) == 1 else wanted
    if spec.inputs is not None:
        sets = load_sets(spec.inputs, seed=spec.seed)
        fitted = [_structured(arguments, wanted, fit(one, bare)) for one in sets]
        return _given(fitted, bare, spec)
    filled, findings = fill(bare, spec)
    return _made(arguments, wanted, filled, spec, findings)


def inputs_of_unknown(function: Callable[..., Any], spec: Spec, *, dtype: str) -> InputSets:
    """Make or load the inputs of a callable that says nothing of them: one float tensor, or whatever is given.

    Given arrays that are named go to the parameters of these names; a tuple is several arguments; anything else is one.

    Raises:
        ValueError, RequestError: there is no shape to make an input of, or what is given cannot be read.
    """
    if spec.inputs is not None:
        sets = [_arguments(one, function) for one in load_sets(spec.inputs, seed=spec.seed)]
        wanted = [as_given(leaf, _name(path), path) for path, leaf in leaves(sets[0])]
        return _given([_structured(sets[0], wanted, fit(one, wanted)) for one in sets], wanted, spec)
    shapes = [spec.input_shape] if spec.input_shape is not None else _by_parameter(spec, function)
    if not shapes:
        raise ValueError("the model does not say what input it takes; give --input-shape, or --inputs")
    return inputs_of(tuple(TensorFacts(name=None, shape=(None, *s), dtype=dtype) for s in shapes), _plain(spec))


def _by_parameter(spec: Spec, function: Callable[..., Any]) -> list[tuple[int, ...]]:
    """Put the shapes that were asked for by name into the order of the function's parameters."""
    names = _parameters(function)
    places = {
        name: names.index(name) if name in names else int(name) for name in spec.input_shapes if _known(name, names)
    }
    if len(places) < len(spec.input_shapes) or sorted(places.values()) != list(range(len(places))):
        raise ValueError(f"--input-shape names {', '.join(map(repr, spec.input_shapes))}, and the model takes {names}")
    return [spec.input_shapes[name] for name in sorted(places, key=places.__getitem__)]


def _known(name: str, names: Sequence[str]) -> bool:
    return name in names or name.isdecimal()


def _plain(spec: Spec) -> Spec:
    return spec.model_copy(update={"input_shape": None, "input_shapes": {}})


def _arguments(one_set: Any, function: Callable[..., Any]) -> Arguments:
    if isinstance(one_set, tuple):
        return one_set
    names = _parameters(function)
    if isinstance(one_set, Mapping) and list(one_set) and set(one_set) <= set(names[: len(one_set)]):
        return tuple(one_set[name] for name in names[: len(one_set)])
    return (one_set,)


def _parameters(function: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def _describe(leaf: Any, values: Values | None) -> TensorFacts:
    if isinstance(leaf, TensorFacts):
        return leaf
    try:
        shape = tuple(leaf.shape)
    except ValueError:
        raise ValueError("the model does not say of what rank its input is; give --inputs") from None
    dtype = getattr(leaf.dtype, "name", None) or str(leaf.dtype)
    return TensorFacts(name=getattr(leaf, "name", None), shape=shape, dtype=dtype, values=values)


def _structured(arguments: Arguments, wanted: Sequence[Leaf], arrays: Sequence[Any]) -> Arguments:
    """Put arrays where the leaves of *arguments* are; a leaf that is None, an input left out, stays so."""
    by_path = {leaf.path: array for leaf, array in zip(wanted, arrays, strict=True)}
    built: Arguments = map_leaves(lambda path, leaf: None if leaf is None else by_path[path], arguments)
    return built


def _made(
    arguments: Arguments, wanted: Sequence[Leaf], filled: Sequence[Leaf], spec: Spec, findings: tuple[Finding, ...]
) -> InputSets:
    def arrays(number: int) -> Arguments:
        made = [make_array(leaf.facts, seed=(spec.seed, number, place)) for place, leaf in enumerate(filled)]
        return _structured(arguments, wanted, made)

    facts = tuple(
        InputFacts(
            name=leaf.facts.name, shape=leaf.facts.shape, dtype=leaf.facts.dtype, values=values_of(leaf.facts).says
        )
        for leaf in filled
    )
    return InputSets(arrays, facts, hash_inputs([arrays(0)]), None, findings, spec.include_transfer)


def _given(sets: Sequence[Arguments], wanted: Sequence[Leaf], spec: Spec) -> InputSets:
    first = [leaf for _, leaf in leaves(sets[0]) if leaf is not None]
    for number, one in enumerate(sets):
        if [leaf.shape for _, leaf in leaves(one) if leaf is not None] != [leaf.shape for leaf in first]:
            raise ValueError(
                f"--inputs: set {number} has other shapes than set 0; give each shape a benchmark of its own."
            )
    batch = first[0].shape[0] if first and first[0].shape else None
    if spec.batch_asked and batch is not None and batch != spec.batch_size:
        raise ValueError(f"--batch-size {spec.batch_size} does not fit --inputs, which hold {batch} items.")
    facts = tuple(
        InputFacts(name=leaf.facts.name, shape=array.shape, dtype=leaf.facts.dtype, values="given")
        for leaf, array in zip(wanted, first, strict=True)
    )
    findings = [_not_finite(sets)] + [_one_set()] * (len(sets) == 1)
    return InputSets(
        arrays=lambda number: sets[number % len(sets)],
        facts=facts,
        sha256=hash_inputs(sets),
        given=len(sets),
        findings=tuple(finding for finding in findings if finding is not None),
        include_transfer=spec.include_transfer,
    )


def _not_finite(sets: Sequence[Arguments]) -> Finding | None:
    counts = [sum(not_finite(leaf) for _, leaf in leaves(one) if leaf is not None) for one in sets]
    if not any(counts):
        return None
    return Finding(
        code="inputs_not_finite",
        what=f"The inputs that were given hold {sum(counts)} values that are NaN or infinite.",
        why="Outputs that follow from them say little about whether modes agree.",
        what_to_try="Take them out of --inputs.",
    )


def _one_set() -> Finding:
    return Finding(
        code="one_input_set",
        what="One set of inputs was given, so every call saw the same values.",
        why="A mode that compiles anew for other values cannot be told from one that does not.",
        what_to_try="Give several sets of the same shapes: files separated by commas, or a function that yields them.",
    )


def _name(path: Sequence[Any]) -> str | None:
    return next((step for step in reversed(path) if isinstance(step, str)), None)
