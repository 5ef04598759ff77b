"""Which accounts are programs: by the source's own mark, by name, by a list of known ones."""

import re

from miner.model import Actor, ActorKind

_BOT_NAME = re.compile(r".*\[bot\]|.*[-_]bot|bot[-_].*|.*-automation", re.IGNORECASE)
_KNOWN_BOTS = frozenset(
    [
        "allcontributors",
        "bors",
        "codecov-commenter",
        "codecov-io",
        "conda-forge-admin",
        "coveralls",
        "dependabot",
        "dependabot-preview",
        "depfu",
        "dosubot",
        "github-actions",
        "greenkeeper",
        "greenkeeperio-bot",
        "houndci",
        "imgbot",
        "k8s-ci-robot",
        "lgtm-com",
        "mergify",
        "miss-islington",
        "patchback",
        "pep8speaks",
        "pre-commit-ci",
        "pyup-bot",
        "renovate",
        "renovate-bot",
        "requires-io",
        "restyled-io",
        "sentry-io",
        "snyk-bot",
        "sonarcloud",
        "the-knights-who-say-ni",
        "weblate",
        "whitesource-bolt-for-github",
    ]
)
"""Logins of programs that are, or were, plain accounts."""

_MERGES_FOR_PEOPLE = frozenset(
    ["bors", "github-merge-queue", "homu", "k8s-ci-robot", "kodiakhq", "mergify"]
)
"""Merge queues: a person's word puts a pull into one, the program does the rest."""


def merges_alone(actor: Actor | None) -> bool:
    """Is it a program that merges without a person's word?"""
    if actor is None or not is_bot(actor):
        return False
    return actor.login.lower().removesuffix("[bot]") not in _MERGES_FOR_PEOPLE


def is_bot(actor: Actor | None) -> bool:
    """Is it a program? Deleted accounts (None) count as people."""
    if actor is None:
        return False
    login = actor.login.lower()
    return (
        actor.kind is ActorKind.BOT
        or login.removesuffix("[bot]") in _KNOWN_BOTS
        or _BOT_NAME.fullmatch(login) is not None
    )
