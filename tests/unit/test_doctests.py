"""The examples in docstrings are true."""

import doctest
import importlib
import pkgutil

import mlflow_tfexec


def modules():
    for info in pkgutil.walk_packages(mlflow_tfexec.__path__, "mlflow_tfexec."):
        if not info.name.endswith("__main__"):
            yield importlib.import_module(info.name)


def test_every_example_in_a_docstring_holds():
    results = [doctest.testmod(module) for module in modules()]

    assert sum(result.failed for result in results) == 0
    assert sum(result.attempted for result in results) >= 5
