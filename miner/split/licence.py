"""Under which licence the code was at the base commit: told by the tree, not by today's page.

A licence text is recognised by phrases that its SPDX text has and no other; nothing is guessed from
likeness. Without a recognised text the project's metadata speaks.
"""

import re
from collections.abc import Callable, Mapping

_STEMS = ("LICENSE", "LICENCE", "COPYING", "License", "license", "UNLICENSE")
_ENDINGS = ("", ".txt", ".md", ".rst")
_KINDS = ("LICENSE.MIT", "LICENSE.BSD", "LICENSE.APACHE", "LICENSE-MIT", "LICENSE-APACHE")
TEXT_PATHS = (*(stem + ending for stem in _STEMS for ending in _ENDINGS), *_KINDS)
METADATA_PATHS = ("pyproject.toml", "setup.cfg", "setup.py", "PKG-INFO")
PATHS = (*TEXT_PATHS, *METADATA_PATHS)
"""What of a tree to read for it."""

_Rule = Callable[[str], bool]

TITLE_CHARS = 300


def _has(*phrases: str) -> _Rule:
    return lambda text: all(phrase in text for phrase in phrases)


def _titled(*phrases: str) -> _Rule:
    """For licences that name each other in their texts."""
    return lambda text: all(phrase in text[:TITLE_CHARS] for phrase in phrases)


_BSD = "redistribution and use in source and binary forms"
_ENDORSE = re.compile(r"neither the name|may not be used to endorse|used to endorse or promote")
_GRANT = "permission is hereby granted, free of charge, to any person obtaining a copy"
_ISC = re.compile(r"permission to use, copy, modify,? and(/or)? distribute this software for any")

_RULES: tuple[tuple[str, _Rule], ...] = (
    ("AGPL-3.0", _titled("gnu affero general public license", "version 3")),
    ("LGPL-3.0", _titled("gnu lesser general public license", "version 3")),
    ("LGPL-2.1", _titled("gnu lesser general public license", "version 2.1")),
    ("GPL-3.0", _titled("gnu general public license", "version 3")),
    ("GPL-2.0", _titled("gnu general public license", "version 2")),
    ("MPL-2.0", _titled("mozilla public license", "version 2.0")),
    ("Apache-2.0", _has("apache license", "version 2.0")),
    ("PSF-2.0", _has("python software foundation license version 2")),
    ("BSL-1.0", _has("boost software license - version 1.0")),
    ("CC0-1.0", _has("cc0 1.0 universal")),
    ("Unlicense", _has("this is free and unencumbered software released into the public domain")),
    ("WTFPL", _has("do what the fuck you want to public license")),
    ("Zlib", _has("altered source versions must be plainly marked as such")),
    ("BSD-4-Clause", _has(_BSD, "all advertising materials mentioning")),
    ("BSD-3-Clause", lambda text: _BSD in text and _ENDORSE.search(text) is not None),
    ("BSD-2-Clause", _has(_BSD)),
    ("MIT", _has(_GRANT, "the above copyright notice and this permission notice")),
    ("MIT-0", _has(_GRANT)),
    (
        "ISC",
        lambda text: _ISC.search(text) is not None and "provided that the above copyright" in text,
    ),
    ("0BSD", lambda text: _ISC.search(text) is not None),
)
"""In order: the first that holds names the text, so the stricter stands before the looser."""

_SPDX_FIELD = re.compile(
    r"""^[ \t]*(?:license|License|License-Expression)[ \t]*[=:][ \t]*"""
    r"""(?:\{[ \t]*text[ \t]*=[ \t]*)?["']?([A-Za-z0-9][A-Za-z0-9 .+-]*?)["']?[ \t]*[},]*[ \t]*$""",
    re.MULTILINE,
)
_CLASSIFIER = re.compile(r"License :: OSI Approved :: ([^\"'\n]+)")
_NAMES: Mapping[str, str] = {
    "0bsd": "0BSD",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "apache-2.0": "Apache-2.0",
    "apache 2": "Apache-2.0",
    "bsd-2-clause": "BSD-2-Clause",
    "bsd 2-clause": "BSD-2-Clause",
    "bsd-3-clause": "BSD-3-Clause",
    "bsd 3-clause": "BSD-3-Clause",
    "3-clause bsd": "BSD-3-Clause",
    "new bsd": "BSD-3-Clause",
    "bsd": "BSD-3-Clause",
    "bsd license": "BSD-3-Clause",
    "gpl": "GPL-3.0",
    "gplv3": "GPL-3.0",
    "gpl-3.0": "GPL-3.0",
    "gpl-3.0-or-later": "GPL-3.0",
    "gnu general public license v3 (gplv3)": "GPL-3.0",
    "gnu general public license v2 (gplv2)": "GPL-2.0",
    "isc": "ISC",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "lgpl-3.0": "LGPL-3.0",
    "mit": "MIT",
    "mit license": "MIT",
    "the mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "mpl-2.0": "MPL-2.0",
    "psf-2.0": "PSF-2.0",
    "python software foundation license": "PSF-2.0",
    "the unlicense (unlicense)": "Unlicense",
    "unlicense": "Unlicense",
    "zlib": "Zlib",
}
"""What metadata calls licences. "BSD" alone is taken for the three-clause text, the common one."""


def license_of(files: Mapping[str, str]) -> str | None:
    """The SPDX id of a tree's licence by its files (path → text), or None.

    Several texts join with " AND ": whoever asks must allow each of them.
    """
    texts = [license_of_text(files[path]) for path in TEXT_PATHS if path in files]
    known = sorted({found for found in texts if found is not None})
    if known:
        return " AND ".join(known)
    for path in METADATA_PATHS:
        found = _of_metadata(files.get(path, ""))
        if found is not None:
            return found
    return None


def license_of_text(text: str) -> str | None:
    """The SPDX id of a licence text."""
    plain = " ".join(re.sub(r"[*#>\"“”‘’`]", " ", text).lower().split())
    return next((name for name, holds in _RULES if holds(plain)), None)


def is_allowed(license_name: str | None, allowed: tuple[str, ...]) -> bool:
    """Is every licence of the expression on the list?"""
    return license_name is not None and all(part in allowed for part in license_name.split(" AND "))


def _of_metadata(text: str) -> str | None:
    for pattern in (_SPDX_FIELD, _CLASSIFIER):
        for found in pattern.finditer(text):
            name = _NAMES.get(found[1].strip().lower())
            if name is not None:
                return name
    return None
