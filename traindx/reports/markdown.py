"""Foreign text in Markdown: no character of it can form markup, a link, a mention or HTML."""

import re

from traindx.reports import labels

SPECIAL = re.compile(r"([\\`*_\[\]#|~$])")
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
JOINER = "&#8288;"  # word joiner: keeps "@name" and "#12" from becoming a mention or a reference


def text(value: object, limit: int = labels.TEXT_LIMIT) -> str:
    """Foreign text as plain words: no character can begin markup within a line. It must not stand at
    the beginning of one, where more characters mean something."""
    escaped = SPECIAL.sub(r"\\\1", labels.clean(value, limit).translate(ENTITIES))
    escaped = escaped.replace("@", "@" + JOINER).replace("\\#", "\\#" + JOINER)
    return re.sub(r"(?i)\b(www|http|https|ftp)\b", lambda m: m[0][0] + JOINER + m[0][1:], escaped)


def code(value: object, limit: int = labels.NAME_LIMIT, *, cell: bool = False) -> str:
    """Foreign text as a code span, fenced longer than any backticks in it. In the cell of a table a
    pipe would end the cell even there, and is escaped."""
    inside = labels.clean(value, limit)
    inside = inside.replace("|", "\\|") if cell else inside
    fence = "`" * (max((len(run) for run in re.findall("`+", inside)), default=0) + 1)
    space = " " if inside.startswith("`") or inside.endswith("`") or not inside.strip() else ""
    return f"{fence}{space}{inside}{space}{fence}"


def sentence(value: object, limit: int = labels.TEXT_LIMIT) -> str:
    """Foreign text as a plain sentence."""
    return text(labels.sentence(value, limit))
