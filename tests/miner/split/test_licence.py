"""Licences told by their texts, and by metadata where there is no text."""

from pathlib import Path

import pytest

from miner.split.licence import PATHS, is_allowed, license_of, license_of_text

OUR_OWN = (Path(__file__).parents[3] / "LICENSE").read_text()
BSD = """Copyright (c) 2020, Ann

Redistribution and use in source and binary forms, with or without modification,
are permitted provided that the following conditions are met:
{more}
"""
ENDORSE = "3. Neither the name of Ann nor the names of its contributors may be used to endorse it."
ADVERTISE = "3. All advertising materials mentioning features of this software must say so."
ISC = """Permission to use, copy, modify, and/or distribute this software for any purpose
with or without fee is hereby granted{more}."""
GPL3 = "GNU GENERAL PUBLIC LICENSE\n Version 3\n" + "x " * 200 + "GNU Affero General Public License"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (OUR_OWN, "MIT"),
        (OUR_OWN.replace("The above copyright notice and this permission notice", "x"), "MIT-0"),
        (BSD.format(more=""), "BSD-2-Clause"),
        (BSD.format(more=ENDORSE), "BSD-3-Clause"),
        (BSD.format(more=ADVERTISE + ENDORSE), "BSD-4-Clause"),
        (ISC.format(more=", provided that the above copyright notice appears"), "ISC"),
        (ISC.format(more=""), "0BSD"),
        ("                  Apache License\n           Version 2.0, January 2004\n", "Apache-2.0"),
        ("Licensed under the Apache License, Version 2.0 (the License)", "Apache-2.0"),
        (GPL3, "GPL-3.0"),
        ("GNU LESSER GENERAL PUBLIC LICENSE\n  Version 3, 29 June 2007\n", "LGPL-3.0"),
        ("GNU AFFERO GENERAL PUBLIC LICENSE\n  Version 3, 19 November 2007\n", "AGPL-3.0"),
        ("Mozilla Public License Version 2.0\n===\n", "MPL-2.0"),
        ("> **This is free and unencumbered software released into the\n> public domain.**",
         "Unlicense"),
        ("All rights reserved. Ask me first.", None),
        ("", None),
    ],
)  # fmt: skip
def test_texts(text: str, name: str | None) -> None:
    assert license_of_text(text) == name


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"LICENSE": OUR_OWN}, "MIT"),
        ({"LICENSE": OUR_OWN, "pyproject.toml": 'license = "GPL-3.0"\n'}, "MIT"),
        ({"LICENSE-MIT": OUR_OWN, "LICENSE.BSD": BSD.format(more="")}, "BSD-2-Clause AND MIT"),
        ({"LICENSE": "Ask me.", "pyproject.toml": '[project]\nlicense = "MIT"\n'}, "MIT"),
        ({"pyproject.toml": '[project]\nlicense = {text = "BSD-3-Clause"}\n'}, "BSD-3-Clause"),
        ({"pyproject.toml": '[project]\nlicense = {file = "LICENSE"}\n'}, None),
        ({"setup.py": "setup(\n  classifiers=[\n   'License :: OSI Approved :: MIT License',\n"},
         "MIT"),
        ({"setup.cfg": "[metadata]\nlicense = Apache-2.0\nlicense_files = LICENSE\n"},
         "Apache-2.0"),
        ({"PKG-INFO": "Metadata-Version: 2.4\nLicense-Expression: ISC\n"}, "ISC"),
        ({"setup.py": "setup(name='x', license='proprietary')\n"}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_trees(files: dict[str, str], name: str | None) -> None:
    assert set(files) <= set(PATHS)
    assert license_of(files) == name


def test_every_licence_of_several_must_be_allowed() -> None:
    assert is_allowed("MIT", ("MIT",))
    assert is_allowed("BSD-2-Clause AND MIT", ("MIT", "BSD-2-Clause"))
    assert not is_allowed("GPL-3.0 AND MIT", ("MIT", "BSD-2-Clause"))
    assert not is_allowed(None, ("MIT",))
