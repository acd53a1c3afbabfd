"""The command line: ``incrowd COMMAND …``.  Each command imports what it needs when it runs."""

try:
    from incrowd.cli.group import cli, main
except KeyboardInterrupt:  # before anything that would say so is there
    raise SystemExit(130) from None

__all__ = ["cli", "main"]
