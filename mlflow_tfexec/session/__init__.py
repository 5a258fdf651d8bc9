"""The parent side: launches, rounds, and the spool. Never imports TensorFlow."""
