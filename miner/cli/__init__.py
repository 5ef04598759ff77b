"""The commands: one a stage. The only place that prints and exits.

main.py     command line → exit code; errors become one sentence
app.py      every command and its place
exits.py    the table of exit codes
speech.py   tables, JSON, progress bars, logs without secrets
options.py  options that several commands share
wiring.py   settings → store, source, mirrors, workshop, executor
the rest    one small module a group of commands
"""

from miner.cli.main import main, run

__all__ = ["main", "run"]
