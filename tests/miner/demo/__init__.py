"""The offline forge."""
