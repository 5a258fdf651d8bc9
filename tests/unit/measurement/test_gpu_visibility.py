"""Expectations follow the CUDA programming guide's examples, the MIG user guide, and PyTorch's reading of the list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlflow_tfexec.measurement.gpu_visibility import Visibility, visible_gpus
from mlflow_tfexec.measurement.nvml import Gpu, GpuFacts, MigInstance

UUIDS = ("GPU-8932f937-d72c", "GPU-8932aaaa-0000", "GPU-c08d91cb-e324", "GPU-ffff0000-1111")
FOUR = GpuFacts(
    driver_version="550.54.15",
    gpus=tuple(
        Gpu(index=index, name="NVIDIA T4", uuid=uuid, pci_bus_id=f"00000000:0{index + 1}:00.0", mig=False)
        for index, uuid in enumerate(UUIDS)
    ),
)


def see(request: str | None, facts: GpuFacts = FOUR, order: str | None = None) -> Visibility:
    environ = {"CUDA_VISIBLE_DEVICES": request, "CUDA_DEVICE_ORDER": order}
    return visible_gpus(facts, {name: value for name, value in environ.items() if value is not None})


def indices(visibility: Visibility) -> list[int]:
    return [device.gpu.index for device in visibility.devices]


@pytest.mark.parametrize(
    ("request_", "shown"),
    [
        pytest.param(None, [0, 1, 2, 3], id="unset shows all"),
        pytest.param("", [], id="empty shows none"),
        pytest.param("-1", [], id="-1 shows none"),
        pytest.param("NoDevFiles", [], id="a word shows none"),
        pytest.param("2", [2], id="one index"),
        pytest.param("2,1", [2, 1], id="order of the list is kept"),
        pytest.param(" 0, 3 ", [0, 3], id="spaces do not matter"),
        pytest.param("0,2,-1,1", [0, 2], id="-1 ends the list"),
        pytest.param("0,9,1", [0], id="an index too high ends the list"),
        pytest.param("0,,1", [0], id="an empty entry ends the list"),
        pytest.param("0,x,1", [0], id="a word ends the list"),
        pytest.param("1gpu2,2ampere", [1, 2], id="an index is read as far as it goes"),
        pytest.param("+1,02", [1, 2], id="a sign and leading zeros are part of an index"),
        pytest.param("0,1,0", [], id="a repeated index empties the list"),
        pytest.param("0,-1,0", [0], id="what follows the end does not count"),
        pytest.param("GPU-c08d91cb-e324", [2], id="whole UUID"),
        pytest.param("GPU-c0,GPU-8932f", [2, 0], id="shortened UUIDs"),
        pytest.param("GPU-8932", [], id="an ambiguous UUID is no device"),
        pytest.param("GPU-c0,GPU-dead,GPU-ff", [2], id="an unknown UUID ends the list"),
        pytest.param("GPU-c0,GPU-c08d", [], id="two names of one device empty the list"),
        pytest.param("GPU-c0,1", [2], id="an index does not go with UUIDs"),
        pytest.param("1,GPU-c0", [1], id="a UUID does not go with indices"),
        pytest.param("GPU-", [], id="a UUID of no digits fits all and so none"),
    ],
)
def test_list_is_read_as_cuda_reads_it(request_, shown):
    visibility = see(request_)

    assert indices(visibility) == shown
    assert visibility.hidden == 4 - len(shown)


def test_no_gpu_shows_nothing_whatever_is_asked():
    for request in (None, "", "0", "GPU-8932f937"):
        assert see(request, GpuFacts()) == Visibility(devices=(), hidden=0, order_certain=True)


def gpus(*names: str | None, bus_ids: tuple[str | None, ...] | None = None) -> GpuFacts:
    bus_ids = bus_ids or tuple(f"00000000:0{index}:00.0" for index in range(len(names)))
    return GpuFacts(
        driver_version="550.54.15",
        gpus=tuple(
            Gpu(index=index, name=name, uuid=f"GPU-{index}", pci_bus_id=bus_id)
            for index, (name, bus_id) in enumerate(zip(names, bus_ids, strict=True))
        ),
    )


def test_order_of_different_gpus_is_uncertain_by_default():
    assert not see(None, gpus("NVIDIA T4", "NVIDIA H100")).order_certain
    assert not see("0", gpus("NVIDIA T4", "NVIDIA H100")).order_certain
    assert not see(None, gpus("NVIDIA T4", None)).order_certain


@pytest.mark.parametrize(
    ("request_", "order", "facts"),
    [
        pytest.param(None, None, gpus("NVIDIA T4"), id="there is one"),
        pytest.param("1,0", None, gpus("NVIDIA T4", "NVIDIA T4"), id="all are alike"),
        pytest.param("1,0", "PCI_BUS_ID", gpus("NVIDIA T4", "NVIDIA H100"), id="CUDA is told to go by the bus"),
        pytest.param("GPU-1,GPU-0", None, gpus("NVIDIA T4", "NVIDIA H100"), id="each is named by its UUID"),
        pytest.param("-1", None, gpus("NVIDIA T4", "NVIDIA H100"), id="none is shown"),
    ],
)
def test_order_is_certain_when(request_, order, facts):
    assert see(request_, facts, order).order_certain


def test_bus_order_is_followed_when_nvml_numbers_otherwise():
    facts = gpus("NVIDIA T4", "NVIDIA H100", bus_ids=("00000000:81:00.0", "00000000:01:00.0"))

    assert indices(see(None, facts, "PCI_BUS_ID")) == [1, 0]
    assert indices(see("0", facts, "PCI_BUS_ID")) == [1]
    assert indices(see("GPU-0", facts, "PCI_BUS_ID")) == [0]


def test_bus_order_without_bus_ids_is_uncertain():
    facts = gpus("NVIDIA T4", "NVIDIA H100", bus_ids=(None, "00000000:01:00.0"))

    assert not see(None, facts, "PCI_BUS_ID").order_certain


def test_lost_gpu_is_not_shown_and_makes_numbers_uncertain():
    lost = Gpu(index=1, problem="GPU is lost")
    facts = GpuFacts(gpus=(FOUR.gpus[0], lost, *FOUR.gpus[2:]))

    assert indices(see(None, facts)) == [0, 2, 3]
    assert see(None, facts).hidden == 0
    assert not see(None, facts).order_certain
    assert see("GPU-c0", facts).order_certain


def mig_facts(driver_version: str | None) -> GpuFacts:
    """One GPU with two GPU instances, the first of which has two compute instances, and one whole GPU."""
    instances = (
        MigInstance(uuid="MIG-a1", gpu_instance=1, compute_instance=0),
        MigInstance(uuid="MIG-a2", gpu_instance=1, compute_instance=1),
        MigInstance(uuid="MIG-b1", gpu_instance=2, compute_instance=0),
    )
    return GpuFacts(
        driver_version=driver_version,
        gpus=(
            Gpu(index=0, name="NVIDIA A100", uuid="GPU-aaaa", mig=True, mig_instances=instances),
            Gpu(index=1, name="NVIDIA A100", uuid="GPU-bbbb", mig=False),
        ),
    )


@pytest.mark.parametrize(
    ("driver_version", "request_", "shown"),
    [
        pytest.param("550.54", None, ["MIG-a1"], id="older drivers show one instance and no whole GPU"),
        pytest.param("550.54", "0", ["MIG-a1"], id="older drivers, by index"),
        pytest.param("550.54", "1", ["GPU-bbbb"], id="older drivers, the whole GPU"),
        pytest.param("550.54", "MIG-b1,MIG-a1", ["MIG-b1"], id="older drivers show the first named"),
        pytest.param(None, None, ["MIG-a1"], id="an unknown driver counts as older"),
        pytest.param("575.57", None, ["MIG-a1", "MIG-b1", "GPU-bbbb"], id="newer: one of each GPU instance"),
        pytest.param("575.57", "MIG-b1,MIG-a2,GPU-bb", ["MIG-b1", "MIG-a2", "GPU-bbbb"], id="newer, as named"),
        pytest.param("575.57", "MIG-a2,MIG-a1", ["MIG-a2"], id="newer, two of one GPU instance"),
        pytest.param("575.57", "GPU-aaaa", ["MIG-a1", "MIG-b1"], id="newer, the GPU in MIG mode by its UUID"),
        pytest.param("470.42", "MIG-GPU-aaaa/1/1", ["MIG-a2"], id="old name of an instance"),
        pytest.param("470.42", "MIG-GPU-aaaa/3/0", [], id="old name of no instance"),
        pytest.param("470.42", "MIG-GPU-bbbb/1/0", [], id="old name on a GPU without MIG"),
    ],
)
def test_mig_instances_are_shown_as_the_driver_does(driver_version, request_, shown):
    assert [device.uuid for device in see(request_, mig_facts(driver_version)).devices] == shown


def test_which_instance_cuda_picks_is_uncertain_until_it_is_named():
    assert not see(None, mig_facts("550.54")).order_certain
    assert see("MIG-b1", mig_facts("550.54")).order_certain


def test_mig_mode_without_instances_shows_nothing():
    facts = GpuFacts(driver_version="575.57", gpus=(Gpu(index=0, name="NVIDIA A100", uuid="GPU-a", mig=True),))

    assert see(None, facts).devices == ()
    assert see(None, facts).hidden == 1


@given(st.lists(st.integers(-2, 5) | st.sampled_from(["", "x", *UUIDS, "GPU-8932", "MIG-0"]), max_size=6))
def test_shown_devices_are_distinct_and_hidden_ones_are_the_rest(entries):
    visibility = see(",".join(str(entry) for entry in entries))
    shown = indices(visibility)

    assert len(shown) == len(set(shown))
    assert visibility.hidden == 4 - len(shown)
