"""``python -m rflib``: the command line."""

from rflib.cli import main

if __name__ == "__main__":
    main()
