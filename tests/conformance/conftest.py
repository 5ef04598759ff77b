"""Fixtures of the conformance suites."""

from tests.real_engine import base, engine, engine_address

__all__ = ["base", "engine", "engine_address"]
