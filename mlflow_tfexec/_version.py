"""The version of this package: also where it runs from a checkout and is not installed."""

__version__ = "0.1.0"
