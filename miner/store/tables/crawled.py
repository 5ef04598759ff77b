"""What was merged: repositories, pulls, watermarks; and the blobs all rooms use."""

from sqlalchemy import Column, Index, LargeBinary, String, Table, UniqueConstraint

from miner.store.tables.base import (
    METADATA,
    Utc,
    blob,
    document,
    flag,
    maybe_text,
    maybe_time,
    number,
    one_of,
    refers,
    table,
    text,
    time,
)

BLOBS = Table(
    "blobs",
    METADATA,
    Column("sha256", String(64), primary_key=True, comment="SHA-256 of the plain bytes, hex"),
    number("size", "Length of the plain bytes"),
    Column("content", LargeBinary(), nullable=False, comment="The bytes, compressed by zstd"),
    Column("made_at", Utc(), nullable=False, comment="When this row was written, UTC"),
    Column("miner_version", String(40), nullable=False, comment="Version that wrote the row"),
    comment="Payloads, diffs, patches, logs and results, by content",
)

REPOS = table(
    "repos",
    text("source", "Where the repository lives: github …"),
    number("database_id", "The source's own number, which survives renaming"),
    UniqueConstraint("source", "database_id"),
    comment="Repositories seen; what is known of them is in repo_facts",
)

REPO_FACTS = table(
    "repo_facts",
    refers("repo_id", "repos.id", "The repository"),
    text("name", "owner/name at that time"),
    text("default_branch", "Its default branch"),
    maybe_text("language", "Its main language"),
    maybe_text("license", "SPDX id"),
    flag("is_archived", "Read-only at the source"),
    document("document", "miner.model.Repo"),
    time("seen_at", "When the source said so"),
    text("name_lower", "The name in lower case, to be found by", index=True),
    comment="What a repository looked like, one row a change; the newest counts",
)

WATCHES = table(
    "watches",
    text("name", "owner/name as watched", index=True),
    text("action", "add or remove"),
    maybe_text("reason", "Why it is watched or not"),
    one_of("action", ("add", "remove")),
    comment="The watch list as a history; the newest row of a name counts",
)

PULLS = table(
    "pulls",
    refers("repo_id", "repos.id", "The repository", index=False),
    number("number", "The pull's number in its repository"),
    text("raw_digest", "Digest of the payload: names this version of the pull"),
    time("merged_at", "When it was merged"),
    time("updated_at", "The source's last change"),
    flag("linked", "A link says that it closes an issue"),
    blob("diff", "git diff from base to merge, bytes"),
    blob("raw", "The payload as received"),
    document("document", "miner.model.PullRequest without its diff"),
    UniqueConstraint("repo_id", "number", "raw_digest"),
    comment="Merged pulls, one row a version; the newest counts",
)

PULL_REVERTS = table(
    "pull_reverts",
    refers("pull_id", "pulls.id", "The pull that undoes another"),
    number("repo_id", "Its repository"),
    number("number", "The number of the pull it undoes"),
    Index(None, "repo_id", "number"),
    comment="Which pull undoes which",
)

WATERMARKS = table(
    "watermarks",
    refers("repo_id", "repos.id", "The repository"),
    maybe_time("watermark", "Newest updated_at whose whole page is stored"),
    maybe_text("etag", "The source's mark of the last complete crawl"),
    time("moved_at", "When the crawl got there"),
    maybe_time("back_to", "All pulls updated since then are stored; none: not known"),
    maybe_text("back_after", "The source's own mark of where to read on further back"),
    comment="How far each repository is crawled; the newest row counts",
)

CRAWL_PLACES = table(
    "crawl_places",
    refers("repo_id", "repos.id", "The repository", index=False),
    text("after", "The source's own mark of where to go on"),
    time("newest", "Newest update when the crawl began: what is newer was not read"),
    time("reached_at", "When the crawl got there"),
    UniqueConstraint("repo_id"),
    comment="Where a crawl that is not complete goes on: one row, updated, and gone in the end",
)

FAILURES = table(
    "failures",
    text("stage", "The stage that failed"),
    text("subject", "What it worked on", index=True),
    text("error", "One sentence, never a secret"),
    time("failed_at", "When it failed"),
    comment="Failures of the machinery outside of leases; what failed stays due",
)

TOMBSTONES = table(
    "tombstones",
    refers("repo_id", "repos.id", "The repository"),
    text("reason", "Why it is gone: deleted, dmca, tos …; empty: it is back"),
    time("seen_at", "When the source said so"),
    comment="Repositories that may no longer be published; the newest row counts",
)
