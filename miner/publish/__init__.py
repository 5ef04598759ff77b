"""Instances → a dated, immutable snapshot → files.

Why a row holds nothing of when or where it was verified: the content hash of a snapshot is then the
same on every machine that reached the same verdicts, and publishing twice changes nothing.

    select.py   pure: which instances are members, and why others are not
    families.py pure: backports and second tries of one fix
    row.py      ExportRow: the one place with SWE-bench's column names
    stage.py    freezes a snapshot
    formats/    one file a format
"""
