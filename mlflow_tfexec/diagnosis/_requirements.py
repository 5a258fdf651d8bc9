"""What an installed distribution asks for, held against what is installed. Imports none of it."""

from importlib import metadata

from mlflow_tfexec.diagnosis._facts import Requirements

# TensorFlow goes by several names; any of them is `tensorflow`.
_ALSO_KNOWN_AS = {"tensorflow": ("tensorflow-cpu", "tensorflow-intel", "tensorflow-macos", "tf-nightly")}


def requirements_of(distribution: str, *, extra: str | None = None) -> Requirements:
    """Check what *distribution* asks for; with *extra*, only what that extra adds."""
    from packaging.requirements import Requirement

    version = _version(distribution)
    if version is None:
        return Requirements(distribution)
    asked = [Requirement(text) for text in metadata.requires(distribution) or ()]
    plain = [one for one in asked if one.marker is None or one.marker.evaluate({"extra": ""})]
    if extra is None:
        wanted = plain
    else:
        wanted = [one for one in asked if one not in plain and one.marker and one.marker.evaluate({"extra": extra})]
    unmet = []
    for one in wanted:
        found = _installed(one.name)
        if found is None or not one.specifier.contains(found, prereleases=True):
            state = f"{found} is installed" if found else "not installed"
            unmet.append(f"{one.name}{one.specifier} ({state})")
    return Requirements(distribution, version=version, met=len(wanted) - len(unmet), unmet=tuple(unmet))


def _installed(name: str) -> str | None:
    versions = (_version(candidate) for candidate in (name, *_ALSO_KNOWN_AS.get(name.lower(), ())))
    return next((version for version in versions if version is not None), None)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
