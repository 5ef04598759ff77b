"""The one way to an HTTP API: tokens, budgets, retries, redirects, and no secret in any message.

    client.py        `HttpClient`: what sources use; one request in flight for a token
    answers.py       what an answer means: its JSON, or which error (pure)
    network.py       `HttpxTransport`: the wire itself; tapes wrap it

What passes between the two is in `miner.wire`, how limits are read in `miner.rategate`.

RateLimitedError         the wait would exceed `max_wait_s`, or limits do not end
SourceUnavailableError   no connection, 5xx or broken answers, after all retries
ConfigError              bad token, certificate or address
NotFoundError            404, 410                BlockedError   451, or 403 with a block
BadItemError             refused otherwise
"""

from miner.http.client import API_VERSION, HttpClient
from miner.http.network import HttpxTransport, ssl_context
from miner.wire import Token

__all__ = ["API_VERSION", "HttpClient", "HttpxTransport", "Token", "ssl_context"]
