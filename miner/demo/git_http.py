"""Git's smart HTTP protocol, read-only, through the `git http-backend` CGI program."""

import io
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from miner.demo.fast_import import GIT_ENVIRONMENT, git_command
from miner.demo.http_messages import Reply, Request, problem_reply

_CHUNK = 1 << 16
_SERVICE = "git-upload-pack"


def is_git(request: Request) -> bool:
    """Does the path belong to the git protocol?"""
    return request.path.endswith(("/info/refs", f"/{_SERVICE}", "/git-receive-pack"))


def git_reply(request: Request, *, git_dir: Path) -> Reply:
    """Run the backend for a repository; only fetching is served."""
    _, _, tail = request.path.rpartition(".git/")
    tail = tail if ".git/" in request.path else "/".join(request.path.split("/")[3:])
    asked = request.query.get("service", "") if tail == "info/refs" else tail
    if asked != _SERVICE:
        return problem_reply(403, "The forge serves fetches only.")
    process = subprocess.Popen(
        [git_command(), "http-backend"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(request, git_dir / tail),
    )
    chunks = _run(process, request.body)
    status, headers = _cgi_headers(process)
    return Reply(status=status, headers=headers, chunks=chunks)


def _environment(request: Request, path: Path) -> Mapping[str, str]:
    headers = request.headers
    return {
        **GIT_ENVIRONMENT,
        "PATH": str(Path(git_command()).parent),
        "PATH_TRANSLATED": str(path),
        "GIT_HTTP_EXPORT_ALL": "1",
        "REQUEST_METHOD": request.method,
        "QUERY_STRING": request.query_string,
        "CONTENT_TYPE": headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(request.body)),
        "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
        "GIT_PROTOCOL": headers.get("git-protocol", ""),
        "REMOTE_ADDR": "127.0.0.1",
    }


def _cgi_headers(process: "subprocess.Popen[bytes]") -> tuple[int, dict[str, str]]:
    assert process.stdout is not None  # noqa: S101  a pipe was asked for
    status, headers = 200, {}
    while line := process.stdout.readline().strip():
        name, _, value = line.decode("latin-1").partition(":")
        if name.lower() == "status":
            status = int(value.split()[0])
        else:
            headers[name.lower()] = value.strip()
    return status, headers


def _run(process: "subprocess.Popen[bytes]", body: bytes) -> Iterator[bytes]:
    """Feed the request, then hand out the answer; the process never outlives the generator."""
    stdout = process.stdout
    assert process.stdin is not None  # noqa: S101  a pipe was asked for
    assert isinstance(stdout, io.BufferedReader)  # noqa: S101  pipes are, unless told otherwise
    try:
        process.stdin.write(body)
        process.stdin.close()
    except BrokenPipeError:
        process.stdin = None  # it said all it wanted before reading all

    def chunks() -> Iterator[bytes]:
        try:
            while chunk := stdout.read1(_CHUNK):
                yield chunk
        finally:
            stdout.close()
            process.kill()
            process.wait()

    return chunks()
