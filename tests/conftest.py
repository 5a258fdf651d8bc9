"""What holds for all tests."""

from hypothesis import settings

# No timing decides a test: on a busy machine any example may take longer than Hypothesis allows.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
