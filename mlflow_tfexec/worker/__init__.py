"""The child side: one process that holds one mode and measures it when asked."""
