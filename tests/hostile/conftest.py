"""Fixtures of the hostile suite."""

from tests.real_engine import base, engine, engine_address

__all__ = ["base", "engine", "engine_address"]
