"""One file = one mode, metric, format or kind of reference: each module exports exactly its object."""

import importlib
import pkgutil
import sys

import pytest

from mlflow_tfexec import _registry, exports
from mlflow_tfexec.diagnosis import all_checks
from mlflow_tfexec.diagnosis._check import Check
from mlflow_tfexec.exports import ExportFormat
from mlflow_tfexec.metrics import all_metrics
from mlflow_tfexec.metrics._metric import Metric
from mlflow_tfexec.models import reference_kinds
from mlflow_tfexec.models._reference import ReferenceKind
from mlflow_tfexec.modes import all_modes, default_modes
from mlflow_tfexec.modes._mode import Mode
from mlflow_tfexec.records.spec import BASELINE, controlled_mode, is_control
from mlflow_tfexec.reports import formats
from mlflow_tfexec.reports._format import Format

REGISTRIES = {
    "modes": ("MODE", Mode, lambda: all_modes().values()),
    "metrics": ("METRIC", Metric, all_metrics),
    "reports": ("FORMAT", Format, lambda: formats().values()),
    "exports": ("EXPORT", ExportFormat, lambda: exports.formats().values()),
    "diagnosis": ("CHECK", Check, all_checks),
    "models": ("KIND", ReferenceKind, reference_kinds),
}


def modules(package):
    """Import every public module of a package."""
    path = importlib.import_module(f"mlflow_tfexec.{package}").__path__
    names = [info.name for info in pkgutil.iter_modules(path) if not info.name.startswith("_")]
    return {name: importlib.import_module(f"mlflow_tfexec.{package}.{name}") for name in names}


@pytest.mark.parametrize("package", REGISTRIES)
def test_every_module_exports_exactly_one_object_of_its_kind(package):
    attribute, kind, _ = REGISTRIES[package]

    for module in modules(package).values():
        assert [name for name, value in vars(module).items() if isinstance(value, kind)] == [attribute]


@pytest.mark.parametrize("package", REGISTRIES)
def test_every_module_is_found(package):
    attribute, _, registered = REGISTRIES[package]

    expected = [id(getattr(module, attribute)) for module in modules(package).values()]
    assert sorted(map(id, registered())) == sorted(expected)


def test_the_name_of_a_check_is_the_name_of_its_module():
    assert {name: module.CHECK.name for name, module in modules("diagnosis").items()} == {
        check.name: check.name for check in all_checks()
    }


def test_the_id_of_a_mode_is_the_name_of_its_module():
    assert {name: module.MODE.id for name, module in modules("modes").items()} == {name: name for name in all_modes()}


def test_modes_have_positions_of_their_own_and_come_in_their_order():
    positions = [mode.position for mode in all_modes().values()]

    assert positions == sorted(set(positions))


def test_the_default_set_is_the_baseline_the_graphs_xla_and_the_control():
    assert default_modes() == ("eager", "graph", "graph_nojit", "xla", "graph_control")
    assert default_modes()[0] == BASELINE


def test_every_control_repeats_a_mode():
    for mode in all_modes():
        assert not is_control(mode) or controlled_mode(mode) in all_modes()


def test_titles_are_distinct_lines():
    titles = [mode.title for mode in all_modes().values()]

    assert len(set(titles)) == len(titles)
    assert all(len(title.splitlines()) == 1 for title in titles)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Make a package of the given modules."""

    def make(**modules):
        directory = tmp_path / "fake_registry"
        directory.mkdir()
        (directory / "__init__.py").touch()
        for name, text in modules.items():
            (directory / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        return "fake_registry"

    yield make
    for name in [name for name in sys.modules if name.startswith("fake_registry")]:
        del sys.modules[name]


def test_objects_are_found_in_the_order_of_their_modules_and_private_ones_are_not(package):
    name = package(b="THING = 2", a="THING = 1", _part="THING = 3")

    assert _registry.discover(name, "THING") == [1, 2]


def test_a_module_without_its_object_is_an_error_and_not_skipped(package):
    name = package(a="THING = 1", b="THNIG = 2")

    with pytest.raises(AttributeError, match="THING"):
        _registry.discover(name, "THING")
