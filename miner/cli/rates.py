"""How many are resolved, as `miner evaluate` and `miner leaderboard` tell it."""

from miner.evaluate.report import ModelReport, Rate

RATE_COLUMNS = ("model", "run", "resolved", "95 % interval", "unflagged", "machine failed")


def rate_words(rate: Rate) -> str:
    """ "12 of 13 resolved, 92.3 % (66.7–98.6)"."""
    text = f"{rate.resolved} of {rate.total} resolved"
    if rate.share is not None:
        text += f", {100 * rate.share:.1f} % ({_interval(rate)})"
    if rate.infrastructure:
        text += f"; the machine failed on {rate.infrastructure} more"
    return text


def _interval(rate: Rate) -> str:
    if rate.interval is None:
        return ""
    low, high = rate.interval
    return f"{100 * low:.1f}–{100 * high:.1f}"


def rate_line(entry: ModelReport) -> list[object]:
    """RATE_COLUMNS: one line of the leaderboard."""
    rate = entry.overall
    share = "" if rate.share is None else f" ({100 * rate.share:.1f} %)"
    return [
        entry.model_name_or_path,
        entry.run_id,
        f"{rate.resolved}/{rate.total}{share}",
        _interval(rate),
        rate.resolved - rate.flagged,
        rate.infrastructure,
    ]


def rate_document(entry: ModelReport) -> dict[str, object]:
    """The same, JSON-able, and by month."""
    return {
        "model_name_or_path": entry.model_name_or_path,
        "run_id": entry.run_id,
        **_rate(entry.overall),
        "by_month": {month: _rate(rate) for month, rate in entry.by_month},
    }


def _rate(rate: Rate) -> dict[str, object]:
    return {
        "resolved": rate.resolved,
        "total": rate.total,
        "share": rate.share,
        "interval": rate.interval,
        "flagged": rate.flagged,
        "infrastructure": rate.infrastructure,
    }
