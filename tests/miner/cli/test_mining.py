"""What `miner run` says at its end."""

import pytest

from miner.cli.mining import tell_end
from miner.store import Funnel

PUBLISH = "next: miner publish"


@pytest.mark.parametrize(
    ("counted", "told", "untold"),
    [
        (Funnel(), "nothing to mine: no merged pull was found", "Funnel"),
        (Funnel(crawl_rejections={"unreadable": 1}), "unreadable", "nothing to mine"),
        (Funnel(pulls=2, candidates=1, waiting_verify=1), "no instance yet", PUBLISH),
        (Funnel(pulls=2, candidates=1, instances=1), PUBLISH, "no instance yet"),
    ],
)
def test_the_end_tells_what_can_be_done_next(
    counted: Funnel, told: str, untold: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tell_end(counted)
    said = capsys.readouterr().out
    assert told in said
    assert untold not in said
