# Every target sets up what it needs. See README.md.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-fast lint format docs-check lock clean

PYTHON := .venv/bin/python

help:  ## what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.venv/ready: .ci/setup pyproject.toml requirements-dev.lock
	@.ci/setup

setup: .venv/ready  ## .venv from the lock file, and a container engine
	@.ci/engine

demo: setup  ## mine, verify, publish and grade real projects, offline from GitHub
	.venv/bin/miner demo

test: setup lint  ## the whole suite, services included
	.ci/compose .ci/postgres .ci/podman $(PYTHON) -m pytest --run-docker --run-postgres --run-network --durations=20

test-fast: .venv/ready  ## what needs no container and no network
	$(PYTHON) -m pytest -n auto --dist loadfile --durations=20

lint: .venv/ready  ## format, style, types and import contracts
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports

format: .venv/ready  ## put the code into shape
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

docs-check: .venv/ready  ## README and docs name every command, setting and exit code
	$(PYTHON) -m pytest -q tests/house

lock: .venv/ready  ## newest versions into the lock files
	.venv/bin/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --upgrade \
		--extra cluster -o requirements.lock pyproject.toml
	.venv/bin/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --upgrade \
		-c requirements.lock --group dev -o requirements-dev.lock pyproject.toml

clean:  ## remove .venv and caches, keep what was mined
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache build *.egg-info
