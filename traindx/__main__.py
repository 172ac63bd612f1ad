"""`python -m traindx`, and the command `traindx`."""


def main() -> None:
    """Ctrl-C ends it as silently while Python still loads its modules as it does later."""
    try:
        from traindx.cli.main import main as command
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    command()


if __name__ == "__main__":
    main()
