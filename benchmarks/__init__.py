"""Repeatable measurements; each module prints one JSON line of figures."""
