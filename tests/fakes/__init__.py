"""Fakes at the seams: what stands in for machines in tests."""
