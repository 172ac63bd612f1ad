"""The changes of a source, made in its tree."""

from collections.abc import Callable, Mapping

import libcst as cst

Change = Callable[[cst.CSTNode], cst.CSTNode]


class Applied(cst.CSTTransformer):
    """Makes changes: of nodes, and of what goes before and after statements, as code."""

    def __init__(
        self,
        changes: Mapping[cst.CSTNode, list[Change]],
        before: Mapping[cst.CSTNode, list[str]],
        after: Mapping[cst.CSTNode, list[str]],
        config: cst.PartialParserConfig,
    ) -> None:
        super().__init__()
        self.changes, self.before, self.after, self.config = changes, before, after, config

    def on_leave(self, original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        for change in self.changes.get(original, ()):
            updated = change(updated)
        if isinstance(updated, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
            return self.line(original, updated)  # type: ignore[arg-type]
        before, after = self.before.get(original, []), self.after.get(original, [])
        return (
            self.around(updated, before, after)
            if isinstance(original, cst.BaseCompoundStatement)
            else updated
        )

    def line(
        self,
        original: cst.SimpleStatementLine | cst.SimpleStatementSuite,
        updated: cst.SimpleStatementLine | cst.SimpleStatementSuite,
    ) -> cst.CSTNode:
        """A line with what goes before and after its statements."""
        before, after = self.before, self.after
        if not any(small in before or small in after for small in original.body):
            return updated
        if isinstance(updated, cst.SimpleStatementLine) and len(original.body) == 1:
            small = original.body[0]
            return self.around(updated, before.get(small, []), after.get(small, []))
        body: list[cst.BaseSmallStatement] = []
        for small, new in zip(original.body, updated.body, strict=True):
            body += [self.simple(code) for code in before.get(small, [])]
            body.append(new)
            body += [self.simple(code) for code in after.get(small, [])]
        joined = [
            one.with_changes(semicolon=cst.Semicolon(whitespace_after=cst.SimpleWhitespace(" ")))
            for one in body
        ]
        return updated.with_changes(
            body=[*joined[:-1], body[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)]
        )

    def simple(self, code: str) -> cst.BaseSmallStatement:
        line = self.parsed(code)
        if not isinstance(line, cst.SimpleStatementLine):
            raise TypeError(f"no simple statement: {code}")
        return line.body[0]

    def parsed(self, code: str) -> cst.BaseStatement:
        return cst.parse_statement(code, config=self.config)

    def around(self, updated: cst.CSTNode, before: list[str], after: list[str]) -> cst.CSTNode:
        """A statement between new ones. Empty lines above it stay above all of them."""
        if not before and not after:
            return updated
        first = [self.parsed(code) for code in before]
        leading = list(getattr(updated, "leading_lines", ()))
        empty = [line for line in leading if line.comment is None]
        if first and len(empty) == len(leading):
            first[0] = first[0].with_changes(leading_lines=empty)
            updated = updated.with_changes(leading_lines=[])
        return cst.FlattenSentinel([*first, updated, *(self.parsed(code) for code in after)])  # type: ignore[return-value]
