"""GitHub's REST objects with every field its OpenAPI description requires. Pure."""

from collections.abc import Mapping
from datetime import datetime

from miner.demo.licences import licence_facts
from miner.demo.nodes import account_id, association, moment
from miner.demo.pulls import Person, PullRecord
from miner.demo.world import RepositoryWorld

Json = dict[str, object]

_USER_LINKS = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}
_REPOSITORY_LINKS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}


class Shapes:
    """Makes REST objects. `api` is this server's own address, `web` what links to people show."""

    def __init__(self, *, api: str, web: str) -> None:
        self.api = api
        self.web = web

    def user(self, person: Person | None) -> Json | None:
        """simple-user; a bot's login ends in `[bot]` here, unlike in GraphQL."""
        if person is None:
            return None
        bot = person.kind == "Bot"
        login = f"{person.login}[bot]" if bot else person.login
        url = f"{self.api}/users/{login}"
        return {
            "login": login,
            "id": account_id(person.login),
            "node_id": f"U_{person.login}",
            "avatar_url": f"{self.web}/{person.login}.png",
            "gravatar_id": "",
            "url": url,
            "html_url": f"{self.web}/{f'apps/{person.login}' if bot else person.login}",
            **{name: url + tail for name, tail in _USER_LINKS.items()},
            "type": person.kind,
            "site_admin": False,
        }

    def repository(self, repository: RepositoryWorld) -> Json:
        """repository, as it is nested in pulls and search results."""
        record = repository.record
        owner, name = record.name.split("/", 1)
        url = f"{self.api}/repos/{record.name}"
        languages = sorted(repository.languages.items(), key=lambda item: -item[1])
        open_issues = sum(issue.closed_at is None for issue in repository.issues.values())
        return {
            "id": repository.database_id,
            "node_id": f"R_{repository.database_id}",
            "name": name,
            "full_name": record.name,
            "private": False,
            "visibility": "public",
            "owner": self.user(Person(login=owner, kind="Organization")),
            "html_url": f"{self.web}/{record.name}",
            "description": record.description or None,
            "fork": record.is_fork,
            "url": url,
            **{key: url + tail for key, tail in _REPOSITORY_LINKS.items()},
            "git_url": f"git://{self.api.split('://', 1)[1]}/{record.name}.git",
            "ssh_url": f"git@{self.api.split('://', 1)[1]}:{record.name}.git",
            "clone_url": f"{self.api}/{record.name}.git",
            "svn_url": f"{self.web}/{record.name}",
            "mirror_url": None,
            "homepage": None,
            "language": languages[0][0] if languages else None,
            "license": self.licence(repository.license),
            "default_branch": repository.default_branch,
            "size": 1 + sum(repository.languages.values()) // 1024,
            "stargazers_count": record.stars,
            "watchers": record.stars,
            "watchers_count": record.stars,
            "forks": record.stars // 10,
            "forks_count": record.stars // 10,
            "open_issues": open_issues,
            "open_issues_count": open_issues,
            "topics": [],
            "has_issues": True,
            "has_projects": False,
            "has_wiki": False,
            "has_pages": False,
            "has_discussions": False,
            "has_downloads": True,
            "archived": record.is_archived,
            "disabled": False,
            "is_template": False,
            "allow_forking": True,
            "web_commit_signoff_required": False,
            "created_at": moment(record.created_at) or "2020-01-01T00:00:00Z",
            "updated_at": moment(repository.pushed_at),
            "pushed_at": moment(repository.pushed_at),
        }

    def full_repository(self, repository: RepositoryWorld) -> Json:
        """full-repository, as asked for by its name."""
        return {
            **self.repository(repository),
            "network_count": repository.record.stars // 10,
            "subscribers_count": repository.record.stars // 20,
            "allow_merge_commit": True,
            "allow_squash_merge": True,
            "allow_rebase_merge": True,
        }

    def licence(self, spdx: str | None) -> Json | None:
        """license-simple."""
        if spdx is None:
            return None
        key, name, spdx = licence_facts(spdx)
        url = None if key == "other" else f"{self.api}/licenses/{key}"
        return {"key": key, "name": name, "spdx_id": spdx, "url": url, "node_id": f"LI_{key}"}

    def pull(self, repository: RepositoryWorld, pull: PullRecord) -> Json:
        """pull-request-simple, as in a list."""
        facts = repository.pull_facts(pull)
        api = f"{self.api}/repos/{repository.name}"
        html = f"{self.web}/{repository.name}/pull/{pull.number}"
        links = {
            "comments": f"{api}/issues/{pull.number}/comments",
            "commits": f"{api}/pulls/{pull.number}/commits",
            "statuses": f"{api}/statuses/{facts.head}",
            "html": html,
            "issue": f"{api}/issues/{pull.number}",
            "review_comments": f"{api}/pulls/{pull.number}/comments",
            "review_comment": f"{api}/pulls/comments{{/number}}",
            "self": f"{api}/pulls/{pull.number}",
        }
        base = pull.base_branch or repository.default_branch
        closed_at = pull.closed_at or pull.merged_at
        return {
            "id": repository.database_id * 1000 + pull.number,
            "node_id": f"PR_{repository.database_id}_{pull.number}",
            "number": pull.number,
            "state": "closed" if closed_at else "open",
            "locked": False,
            "title": pull.title,
            "body": pull.body,
            "user": self.user(pull.author),
            "author_association": association(pull.author),
            "draft": False,
            "labels": [_label(name, api) for name in pull.labels],
            "milestone": None,
            "assignee": None,
            "assignees": [],
            "requested_reviewers": [],
            "requested_teams": [],
            "auto_merge": None,
            "created_at": moment(pull.created_at),
            "updated_at": moment(repository.updated_at(pull)),
            "closed_at": moment(closed_at),
            "merged_at": moment(pull.merged_at),
            "merge_commit_sha": facts.merge_commit,
            "head": self._side(repository, pull.head_branch or f"pull-{pull.number}", facts.head),
            "base": self._side(repository, base, facts.base),
            "url": links["self"],
            "html_url": html,
            "diff_url": f"{html}.diff",
            "patch_url": f"{html}.patch",
            "issue_url": links["issue"],
            "commits_url": links["commits"],
            "comments_url": links["comments"],
            "review_comments_url": links["review_comments"],
            "review_comment_url": links["review_comment"],
            "statuses_url": links["statuses"],
            "_links": {name: {"href": href} for name, href in links.items()},
        }

    def _side(self, repository: RepositoryWorld, branch: str, sha: str) -> Json:
        owner = repository.name.split("/")[0]
        return {
            "label": f"{owner}:{branch}",
            "ref": branch,
            "sha": sha,
            "user": self.user(Person(login=owner, kind="Organization")),
            "repo": self.repository(repository),
        }


def _label(name: str, api: str) -> Json:
    return {
        "id": account_id(name),
        "node_id": f"LA_{name}",
        "url": f"{api}/labels/{name}",
        "name": name,
        "description": "",
        "color": "ededed",
        "default": False,
    }


def rate(limits: Mapping[str, tuple[int, int, int, datetime]]) -> Json:
    """rate-limit-overview from resource → (limit, used, remaining, reset)."""
    resources = {
        name: {"limit": limit, "used": used, "remaining": left, "reset": int(reset.timestamp())}
        for name, (limit, used, left, reset) in limits.items()
    }
    return {"resources": resources, "rate": resources["core"]}
