"""Fixtures of the validators' tests on a real engine."""

from tests.real_engine import base, engine, engine_address
from tests.toy import toy_image

__all__ = ["base", "engine", "engine_address", "toy_image"]
