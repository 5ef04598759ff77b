"""Is the demo's end what it must be? Pure."""

from collections.abc import Mapping, Sequence

from miner.demo.expected import Expected, ExpectedInstance

OPTIONAL = "optional"
"""May be rejected because it cannot be built; else its list is some of the expected tests, since
ids that several of its tests share are in no list."""


def differences(
    wanted: Expected, *, fail_to_pass: Mapping[str, Sequence[str]], rejected: Mapping[str, str]
) -> tuple[str, ...]:
    """One sentence for everything that is not as it must be.

    `fail_to_pass`: instance id → its list; `rejected`: pull id (spelt like an instance's) → gate
    or flaw.
    """
    found: list[str] = []
    for want in wanted.instances:
        name = want.instance_id
        if name in fail_to_pass:
            if not as_expected(want, fail_to_pass[name]):
                found.append(f"{name}: FAIL_TO_PASS differs from what it must be")
        elif want.kind != OPTIONAL:
            found.append(f"{name}: must be an instance, is {rejected.get(name, 'not there')}")
    gates = expected_gates(wanted)
    for name, gate in gates.items():
        if rejected.get(name) != gate:
            found.append(
                f"{name}: should be rejected by {gate}, but is {rejected.get(name, 'not')}"
            )
    known = {want.instance_id for want in wanted.instances} | set(gates)
    strangers = sorted((set(fail_to_pass) | set(rejected)) - known)
    return (*found, *(f"{name}: is not expected in the demo" for name in strangers))


def as_expected(want: ExpectedInstance, fail_to_pass: Sequence[str]) -> bool:
    """Is it the very list? Of an optional instance a part is enough."""
    if want.kind == OPTIONAL:
        return len(fail_to_pass) > 0 and set(fail_to_pass) <= set(want.fail_to_pass)
    return sorted(fail_to_pass) == sorted(want.fail_to_pass)


def expected_gates(wanted: Expected) -> dict[str, str]:
    """Pull id, spelt like an instance's → the gate or flaw that must reject it."""
    return {
        f"{entry.repo.replace('/', '__')}-{entry.pull_number}": entry.gate
        for entry in wanted.rejections
    }
