"""Which mode is faster, by how much, how sure: pure functions of a recording."""
