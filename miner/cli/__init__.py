"""The commands: one a stage. The only place that prints and exits."""


def main() -> None:
    """Run the command line."""
    raise SystemExit("not wired yet")
