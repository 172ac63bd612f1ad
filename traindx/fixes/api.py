"""What a fix is declared with: `fix`, and proposals that are worded with the numbers of the run."""

from collections.abc import Callable, Mapping
from string import Formatter
from types import MappingProxyType

from traindx.vocabulary import Applicability, Fix, Setup

__all__ = ["Fix", "Setup", "fix", "propose_lower", "propose_scaled"]

Proposal = Callable[[Setup], str]


def fix(
    home: str,
    doc: str | None,
    *,
    propose: str | tuple[str, ...] | Proposal,
    applicability: Applicability,
    causes: tuple[str, ...],
    expected: str,
    idioms: Mapping[str, str] = MappingProxyType({}),
    touches: tuple[str, ...] = (),
    interventions: tuple[str, ...] = (),
) -> Fix:
    """The fix that module `home` declares. The first line of its docstring `doc` is the title, the rest
    the page.

    `propose` is a sentence, a function of the setup, or several sentences with {facts}. Of several
    sentences, the first whose facts are all known is used. Other arguments: see `Fix`.
    """
    title, _, page = (doc or "").partition("\n\n")
    return Fix(
        slug=home.rpartition(".")[2].replace("_", "-"),
        home=home,
        title=title.removesuffix("."),
        page=page.strip(),
        propose=propose if callable(propose) else first_known(propose),
        applicability=applicability,
        causes=causes,
        expected=expected,
        idioms=idioms,
        touches=touches,
        interventions=interventions,
    )


def first_known(sentences: str | tuple[str, ...]) -> Proposal:
    """The first sentence of which every {fact} is a number other than 0."""
    listed = (sentences,) if isinstance(sentences, str) else sentences

    def propose(setup: Setup) -> str:
        for sentence in listed:
            names = (name for _, name, _, _ in Formatter().parse(sentence) if name)
            numbers = {name: setup.number(name) for name in names}
            if all(numbers.values()):
                return sentence.format(**numbers)
        return ""

    return propose


def propose_scaled(field: str, factor: float, what: str, purpose: str = "") -> Proposal:
    """A proposal such as "lower the learning rate from 0.1 to 0.01 (x0.1)"."""

    def propose(setup: Setup) -> str:
        now = setup.number(field)
        values = f" from {now:.3g} to {now * factor:.3g}" if now is not None and now > 0 else ""
        return f"{what}{values} (x{factor:g}){purpose}"

    return propose


def propose_lower(field: str, target: float, what: str) -> Proposal:
    """A proposal such as "lower the momentum from 0.99 to 0.9"; empty where the value is zero already."""

    def propose(setup: Setup) -> str:
        now = setup.number(field)
        if now is None:
            return f"{what} to {target:g}"
        if now <= 0:
            return ""
        return f"{what} from {now:g} to {target:g}" if now > target else f"{what} below {now:g}"

    return propose
