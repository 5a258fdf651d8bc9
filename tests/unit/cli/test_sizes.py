"""From lists of batch sizes and shapes to the benchmarks of a family."""

import pytest

from mlflow_tfexec.benchmarking.request import RunOptions
from mlflow_tfexec.cli.sizes import build_specs
from mlflow_tfexec.cli.sweep import size_text
from mlflow_tfexec.errors import RequestError


def specs_of(**options):
    return build_specs(RunOptions(**{"model": "ResNet50", **options}))


def refusal(**options):
    with pytest.raises(RequestError) as caught:
        specs_of(**options)
    return str(caught.value)


def test_one_size_is_one_benchmark_of_no_family():
    (spec,) = specs_of(batch_size="8", input_shape="64x64x3")

    assert (spec.batch_size, spec.input_shape, spec.family) == (8, (64, 64, 3), None)


def test_several_batch_sizes_are_one_family():
    specs = specs_of(batch_size="1, 8,32")

    assert [spec.batch_size for spec in specs] == [1, 8, 32]
    assert len({spec.family for spec in specs}) == 1
    assert specs[0].family is not None
    assert specs[0].model_copy(update={"batch_size": 8}) == specs[1]


def test_two_sweeps_are_two_families():
    assert specs_of(batch_size="1,2")[0].family != specs_of(batch_size="1,2")[0].family


def test_every_shape_is_measured_with_every_batch_size():
    specs = specs_of(batch_size="1,2", shapes="32x32x3,64x64x3")

    assert [size_text(spec) for spec in specs] == [
        "batch 1, 32x32x3",
        "batch 2, 32x32x3",
        "batch 1, 64x64x3",
        "batch 2, 64x64x3",
    ]


def test_shapes_of_several_inputs_and_of_sequences_can_be_listed():
    named = specs_of(shapes="ids=8;mask=8,ids=16;mask=16")
    sequences = specs_of(shapes="128x,512x")

    assert [spec.input_shapes for spec in named] == [{"ids": (8,), "mask": (8,)}, {"ids": (16,), "mask": (16,)}]
    assert [spec.input_shape for spec in sequences] == [(128,), (512,)]
    assert size_text(named[0]) == "batch 1, ids 8, mask 8"


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ({"batch_size": "1,x"}, "--batch-size 'x' is not a whole number."),
        ({"batch_size": "1,8,1"}, "--batch-size '1,8,1' names '1' twice. Name each once."),
        ({"batch_size": ","}, "--batch-size ',' is not a whole number."),
        ({"shapes": "224,224"}, "--shapes '224,224' names '224' twice."),
        (
            {"shapes": "224,3"},
            "--shapes '224,3' could be one shape or 2. Write 224x224x3 for one, and for sequences of",
        ),
        ({"shapes": "wide,3x3"}, "--shapes 'wide' is not a shape."),
        ({"shapes": "3x3", "input_shape": "4"}, "--shapes '3x3' and --input-shape '4' both say what to measure."),
        ({"batch_size": ",".join(map(str, range(1, 102)))}, "--batch-size and --shapes make 101 benchmarks."),
        ({"batch_size": "1,2", "inputs": "a.npz"}, "--inputs 'a.npz' has one batch size and shape, and several are"),
        (
            {"shapes": "3x3", "inputs": "data.py:make"},
            "--inputs 'data.py:make' has a shape, so --shapes '3x3' cannot be.",
        ),
    ],
)
def test_a_list_that_cannot_be_measured_is_refused(options, refused):
    assert refusal(**options).startswith(refused)
