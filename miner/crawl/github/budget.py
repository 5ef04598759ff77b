"""What is left of each token's hourly budgets, as GitHub tells it now."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from miner.errors import MalformedPayloadError
from miner.http import HttpClient
from miner.rategate import Budget

RESOURCES = ("core", "graphql", "search")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudgets:
    """One token's budgets; `token` is its place in the settings, from 1."""

    token: int
    budgets: tuple[Budget, ...]


def budgets(client: HttpClient) -> tuple[TokenBudgets, ...]:
    """Ask for every token; this costs no budget. Errors as HttpClient."""
    return tuple(
        TokenBudgets(token=place, budgets=_budgets(single))
        for place, single in enumerate(client.singles(), 1)
    )


def _budgets(client: HttpClient) -> tuple[Budget, ...]:
    answer = client.get("rate_limit").answer
    resources = answer.get("resources") if isinstance(answer, dict) else None
    if not isinstance(resources, dict):
        raise MalformedPayloadError("The API's /rate_limit answer names no resources.")
    return tuple(_budget(name, resources[name]) for name in RESOURCES if name in resources)


def _budget(name: str, told: Mapping[str, int]) -> Budget:
    try:
        return Budget(
            resource=name,
            limit=int(told["limit"]),
            remaining=int(told["remaining"]),
            reset_at=datetime.fromtimestamp(int(told["reset"]), UTC),
        )
    except (KeyError, TypeError, ValueError):
        raise MalformedPayloadError(f"The API's /rate_limit tells no budget for {name}.") from None
