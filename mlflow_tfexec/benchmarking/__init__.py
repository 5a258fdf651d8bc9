"""What the command line and the Python interface have in common: from a request to a benchmark that is kept."""
