"""``python -m incrowd``."""

from incrowd.cli.group import main

if __name__ == "__main__":
    main()
