"""The licences the forge can name, with GitHub's keys, and how it tells them apart."""

import re
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


_FILE = re.compile(r"^(LICEN[CS]E|COPYING)([.-].*)?$", re.IGNORECASE)
_PHRASES = (  # the first that fits
    ("Apache License", "Apache-2.0"),
    ("Mozilla Public License", "MPL-2.0"),
    ("GNU GENERAL PUBLIC LICENSE", "GPL-3.0"),
    ("Permission to use, copy, modify, and/or distribute", "ISC"),
    ("Permission is hereby granted, free of charge", "MIT"),
    ("Neither the name", "BSD-3-Clause"),
    ("Redistributions in binary form", "BSD-2-Clause"),
)


def is_licence_file(path: str) -> bool:
    """Is a file in the top folder the licence?"""
    return _FILE.match(path) is not None


def told_by(text: bytes) -> str:
    """SPDX id of a licence text; NOASSERTION when no phrase is known, as GitHub says it."""
    words = " ".join(text.decode("utf-8", "replace").split())
    return next((spdx for phrase, spdx in _PHRASES if phrase in words), "NOASSERTION")
