"""The form in which a document is asked for, or the sentence that it has none."""

from collections.abc import Callable, Mapping

from traindx.errors import ConfigError


def write_form(form: str, makers: Mapping[str, Callable[[], str]]) -> str:
    """The document in the form asked for. Raises ConfigError where nothing makes that form."""
    if form not in makers:
        raise ConfigError(f"--format {form}: this document has no such form; it has {', '.join(makers)}")
    return makers[form]()
