"""The licences the forge can name, with GitHub's keys."""

from collections.abc import Mapping

from miner.demo.nodes import Node

LICENCES: Mapping[str, tuple[str, str]] = {  # SPDX id → (GitHub's key, name)
    "MIT": ("mit", "MIT License"),
    "BSD-2-Clause": ("bsd-2-clause", 'BSD 2-Clause "Simplified" License'),
    "BSD-3-Clause": ("bsd-3-clause", 'BSD 3-Clause "New" or "Revised" License'),
    "Apache-2.0": ("apache-2.0", "Apache License 2.0"),
    "ISC": ("isc", "ISC License"),
    "MPL-2.0": ("mpl-2.0", "Mozilla Public License 2.0"),
    "GPL-3.0": ("gpl-3.0", "GNU General Public License v3.0"),
    "NOASSERTION": ("other", "Other"),
}


def licence_facts(spdx: str) -> tuple[str, str, str]:
    """Key, name and SPDX id; what is not known here is `other`, as GitHub says it."""
    if spdx not in LICENCES:
        spdx = "NOASSERTION"
    key, name = LICENCES[spdx]
    return key, name, spdx


def licence_node(spdx: str | None) -> Node | None:
    """`licenseInfo`, None when there is no licence file."""
    if spdx is None:
        return None
    key, name, spdx = licence_facts(spdx)
    return {
        "__typename": "License",
        "id": f"LI_{key}",
        "key": key,
        "name": name,
        "spdxId": spdx,
        "pseudoLicense": key == "other",
        "url": None if key == "other" else f"https://choosealicense.com/licenses/{key}/",
    }
