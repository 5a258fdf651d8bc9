"""Clocks, the block loop, the state of the machine. Knows callables, not TensorFlow."""
