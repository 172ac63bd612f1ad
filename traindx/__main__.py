"""`python -m traindx`: the same as the command."""

from traindx.cli.main import main

if __name__ == "__main__":
    main()
