"""Split: what a pull asks for, what fixes it, what proves it — or why it is no task.

stage.py      the loop: due pulls → Candidate | Rejection
judgement.py  one of them, by the modules below   open_mirrors.py  where it reads
patch.py      one diff → gold patch and test patch, byte-exact
proof.py      does a patch make the merged file? told without git for plain text
closing.py    which issues the pull closes, and why a link does not count
statement.py  problem_statement and hints_text as they stood before the fix
gates.py      the ordered reasons for a no        policy.py  what a maintainer may change
people.py     people and programs                 version.py "major.minor" of the base
licence.py    the licence of the base's tree
"""
