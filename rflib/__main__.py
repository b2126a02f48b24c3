"""``python -m rflib``: the command line, run by a warm interpreter where there is one."""

import sys

from rflib.warm import ask

if __name__ == "__main__":
    status = ask(sys.argv[1:])
    if status is None:
        from rflib.cli import main

        main()
    sys.exit(status)
