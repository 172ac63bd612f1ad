"""Passwords, keys and tokens, replaced by *** in whatever is stored or shown.

By name (`--api-key X`, `password=X`, `{"hf_token": X}`), by shape (`sk-...`, a URL with a password), and by value (what
a variable of the environment with such a name holds). In doubt a
value is hidden: the user can still look at the command, but a shown password is lost. What counts tokens
(`--max-tokens 512`, `pad_token_id`) or measures them (`password_accuracy`) is no secret.
"""

import math
import os
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

HIDDEN = "***"
SHORTEST = 8  # characters of a variable's value that is looked for wherever it appears
LONGEST = 1 << 16  # bytes of output that wait for the end of their line

SECRET = frozenset((
    "password", "passwd", "passphrase", "pwd", "secret", "secrets", "credential", "credentials", "apikey",
    "accesskey", "secretkey", "privatekey", "auth", "oauth", "authorization", "authtoken", "accesstoken",
    "apitoken", "hftoken", "bearer", "cookie", "cookies", "jwt",
))  # fmt: skip
ENDINGS = ("password", "passwd", "passphrase", "secret", "apikey")  # of words run together: `dbpassword`
# Before `key`.
KEYS = frozenset((
    "api", "access", "secret", "private", "auth", "account", "storage", "signing", "encryption", "master",
    "service", "license", "ssh", "pgp", "gpg", "wandb", "openai", "hf", "huggingface", "comet", "neptune", "mlflow",
    "clearml", "anthropic", "aws", "azure", "gcp", "google", "github", "gitlab", "slack",
))  # fmt: skip
# Before `pass`.
PASSES = frozenset((
    "db", "user", "mysql", "pg", "postgres", "redis", "smtp", "mail", "admin", "root", "login", "proxy", "ftp",
    "ssh", "http",
))  # fmt: skip
# Before `token`: a word of a vocabulary, or a count per token.
VOCABULARY = frozenset((
    "pad", "eos", "bos", "unk", "mask", "cls", "sep", "max", "min", "num", "n", "per", "special", "extra", "start",
    "end", "stop", "begin", "image", "video", "audio", "text", "next", "class", "first", "last", "query", "prompt",
    "system", "decoder", "encoder", "forced", "single", "each", "of", "register", "memory",
))  # fmt: skip
# Last in a name: it speaks about a secret, and holds none.
ABOUT = frozenset((
    "acc", "accuracy", "loss", "score", "length", "len", "size", "dim", "min", "max", "count", "num", "file",
    "path", "dir", "rate", "policy", "strength", "mode", "type", "method", "enabled", "backend", "provider", "url",
    "uri", "host", "user", "username", "name", "ttl", "timeout", "expires", "expiry",
))  # fmt: skip
EMPTY = frozenset(
    ("", "true", "false", "none", "null", "yes", "no", HIDDEN, f"'{HIDDEN}'", "os.environ", "environ")
)
# Patterns are strings, which `re` compiles when a text first needs one: compiling all of them at the start took longer
# than reading a small log.
LOGIN = r"([^\s:/]{1,64}):(?!\d+$)[^\s/]\S*"  # of `curl -u`; two numbers are ids of a user and a group
LOGGED_IN = (  # in a text, which may hold a list of Python's
    r"((?:^|[\s'\"])(?:-u|--(?:proxy-)?user)['\"]?(?:\s*,\s*|\s+|=)['\"]?[^\s:/'\"]{1,64}):"
    r"(?!\d+(?:[\s'\"]|$))[^\s/'\"][^\s'\"]*"
)
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
WRAPPED = r"(?i)<.*>|\[.*\]|\d{1,6}|\d*\.\d+(e[+-]?\d+)?"  # `<pad>`, `[MASK]`, a count, a mean

PEM = r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
# The prefixes that services give their keys so that they can be recognized, at the start of a word.
SHAPES = r"""(?x)(?<![A-Za-z0-9_-])(?:
        sk-(?:proj|ant|or|svcacct|admin|lf)-(?=[\w-]*\d)[A-Za-z0-9_-]{16,}  # OpenAI, Anthropic
        | sk-(?=\w*\d)[A-Za-z0-9_]{16,}                                      # and no `sk-learn-baseline-2`
        | [sr]k_(?:live|test)_[A-Za-z0-9]{16,}                               # Stripe
        | hf_[A-Za-z0-9]{20,}                                                # Hugging Face
        | (?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}
        | gl(?:pat|ptt|dt|rt)-[A-Za-z0-9_-]{16,}
        | xox[abeoprs]-[A-Za-z0-9-]{10,}                                     # Slack
        | (?:AKIA|ASIA)[A-Z0-9]{16}                                          # AWS
        | AIza[A-Za-z0-9_-]{35}                                              # Google
        | ya29\.[A-Za-z0-9_-]{16,}
        | r8_[A-Za-z0-9]{30,}                                                # Replicate
        | gsk_[A-Za-z0-9]{40,}                                               # Groq
        | SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}                         # SendGrid
        | bot\d{8,10}:[A-Za-z0-9_-]{30,}                                     # Telegram
        | pypi-[A-Za-z0-9_-]{32,} | npm_[A-Za-z0-9]{30,} | dop_v1_[a-f0-9]{64}
        | eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*            # JSON web token
    )(?![A-Za-z0-9_])"""
# A password may hold "@" (then it ends at the last one before a slash) or "/"; a number before a slash is a port. All
# lengths are bounded, and nothing is tried in the middle of a word: a text without a line end stays linear.
SCHEME = r"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]{0,40}://"
USER = SCHEME + r"[^\s/:@'\"]{0,200}):(?!\d+/)(?:[^\s/'\"]{1,200}|[^\s@'\"]{1,200})@"
KEYED_HOST = SCHEME + r")[A-Za-z0-9_-]{20,500}@"  # Sentry, Git over HTTPS
# A web hook: who knows its path may post.
HOOK = r"(?i)\b(hooks\.slack\.com/[a-z]+/|discord(?:app)?\.com/api/webhooks/)[\w/-]{10,}"
QUERY = (
    r"(?i)([?&;](?:X-(?:Amz|Goog)-(?:Signature|Credential|Security-Token)|sig|signature|key)=)[^\s&'\"]{8,}"
)
AUTHORIZED = r"((?:proxy-)?authorization['\"]?\s*[:=]\s*['\"]?)(?![\s*])"
HEADER = rf"(?i){AUTHORIZED}(?:[a-z][\w-]*[ \t]+(?!-))?[^\s'\"]+"  # `Bearer X`, or X alone
BEARER = r"(?i)\b(bearer\s+)(?:(?=[^\s'\"]*\d)[^\s'\"]{6,}|[^\s'\"]{20,})"
VALUE = r"\"(?:[^\"\\\r\n]|\\.)*\"|'(?:[^'\\\r\n]|\\.)*'|[^\s,;&'\"(){}\[\]]+"
ASSIGNED = r"(?<![\w.+-])[\w.+-]{1,200}['\"]?[ \t]*[=:]=?[ \t]*"
OPTION = r"(?<![\w.+-])--?[A-Za-z_][\w.-]{0,200}['\"]?,?[ \t]+(?!['\"]?-)"
# What a text must hold before the patterns are asked: a search for words is fifty times as fast.
NAMES = ("pass", "pwd", "secret", "credential", "key", "token", "auth", "bearer", "cookie", "jwt")
PREFIXES = (
    "sk-", "k_live_", "k_test_", "hf_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "glptt-",
    "gldt-", "glrt-", "xox", "AKIA", "ASIA", "AIza", "ya29.", "r8_", "pypi-", "npm_", "dop_v1_", "eyJ",
    "gsk_", "SG.", "bot",
)  # fmt: skip


@lru_cache(maxsize=4096)
def is_secret(name: str) -> bool:
    """Whether a name of an option, a variable or a key says that its value is a secret."""
    words = [word.lower() for word in WORD.findall(name)]
    while words and words[-1] in ("value", "str", "string", "raw", "env", "header", "json"):
        words.pop()
    if not words or words[-1] in ABOUT:
        return False
    if any(word in SECRET or word.endswith(ENDINGS) for word in words):
        return True
    pairs = list(zip(["", *words], words, strict=False))
    if any(word == "key" and before in KEYS for before, word in pairs):
        return True
    before, last = pairs[-1]
    return (last == "token" and before not in VOCABULARY) or (last == "pass" and before in PASSES)


def is_hidden(name: str, value: str) -> bool:
    """Whether the value under a name is to be hidden: not a switch, nor a word of a vocabulary, nor a count."""
    bare = value.strip("'\"")
    if bare.lower() in EMPTY or not is_secret(name):
        return False
    return not (WORD.findall(name)[-1].lower() == "token" and re.fullmatch(WRAPPED, bare))


@lru_cache(maxsize=1)
def from_environment() -> tuple[str, ...]:
    """The secrets that the process was given by variables, the longest first: errors quote them without a name."""
    known = (
        value for name, value in os.environ.items() if is_hidden(name, value) and len(value) >= SHORTEST
    )
    return tuple(
        sorted((v for v in known if not v.startswith("/") and not v.isdigit()), key=len, reverse=True)
    )


def redact_text(text: str) -> str:
    """A text without the secrets that are recognized in it."""
    for secret in from_environment():
        text = text.replace(secret, HIDDEN)
    if any(prefix in text for prefix in PREFIXES):
        text = re.sub(SHAPES, HIDDEN, text)
    if "://" in text and "@" in text:
        text = re.sub(KEYED_HOST, rf"\1{HIDDEN}@", re.sub(USER, rf"\1:{HIDDEN}@", text))
    if "-u" in text or "-user" in text:
        text = re.sub(LOGGED_IN, rf"\1:{HIDDEN}", text)
    if "hook" in text:
        text = re.sub(HOOK, rf"\1{HIDDEN}", text)
    if "://" in text and "?" in text:
        text = re.sub(QUERY, rf"\1{HIDDEN}", text)
    lower = text.lower()
    if not any(name in lower for name in NAMES):
        return text
    text = re.sub(BEARER, rf"\1{HIDDEN}", re.sub(HEADER, rf"\1{HIDDEN}", re.sub(PEM, HIDDEN, text)))
    return mask_values(OPTION, mask_values(ASSIGNED, text))


def mask_values(names: str, text: str) -> str:
    """A text without the values behind secret names; quotes around them stay."""
    name, quoted = re.compile(names), re.compile(VALUE)
    parts, done, place = [], 0, 0
    while match := name.search(text, place):
        place = match.end()
        value = quoted.match(text, place) if is_secret(match[0]) else None
        if value is not None and is_hidden(match[0], value[0]):
            quote = value[0][0] if value[0][0] in "'\"" else ""
            parts += [text[done:place], quote, HIDDEN, quote]
            done = place = value.end()
    return "".join([*parts, text[done:]])


def redact(words: Iterable[str]) -> list[str]:
    """The words of a command without its secrets."""
    shown: list[str] = []
    option = ""
    for word in words:
        name, equals, value = word.partition("=")
        if option and not word.startswith("-") and is_hidden(option, word):
            shown.append(HIDDEN)
        elif option in ("u", "user", "proxy-user") and (login := re.fullmatch(LOGIN, word)):
            shown.append(f"{login[1]}:{HIDDEN}")
        elif equals and not re.search(r"\s|://", name) and is_hidden(name, value):
            shown.append(f"{name}={HIDDEN}")
        else:
            shown.append(redact_text(word))
        option = word.lstrip("-") if word.startswith("-") and not equals else ""
    return shown


def redact_facts(value: Any, name: str = "") -> Any:
    """Facts, nested at will, without the secrets among them; `name` is the key that they are under."""
    if isinstance(value, dict):
        return {key: redact_facts(one, name if is_secret(name) else str(key)) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        if all(isinstance(one, str) for one in value) and not is_secret(name):
            return redact(value)
        return [redact_facts(one, name) for one in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return HIDDEN if is_hidden(name, value) else redact_text(value)
    digits = (
        str(value) if isinstance(value, int) and abs(value) < 1 << 64 else "many"
    )  # Python refuses to write the rest
    return HIDDEN if isinstance(value, int) and is_hidden(name, digits) else value


class Redacted:
    """Output that arrives in pieces, handed on in whole lines without secrets."""

    def __init__(self) -> None:
        self.held = b""

    def add(self, data: bytes) -> bytes:
        """The lines that are whole by now; a private key that has begun is waited for."""
        self.held += data
        cut = max(self.held.rfind(b"\n"), self.held.rfind(b"\r")) + 1
        begun = self.held.rfind(b"-----BEGIN ", 0, cut)
        if begun >= 0 and b"-----END " not in self.held[begun:cut]:
            cut = begun
        return self.rest(len(self.held) if len(self.held) - cut > LONGEST else cut)

    def rest(self, cut: int | None = None) -> bytes:
        """What is held, up to a byte; by default all of it."""
        text, self.held = self.held[:cut], b"" if cut is None else self.held[cut:]
        return redact_text(text.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def round_outward(value: float, digits: int = 3) -> float:
    """An extreme of the data, which is a value of one of its samples, with fewer digits. It moves away from zero, so
    that what is beyond 1 or 255 still does."""
    short = float(f"{value:.{digits - 1}e}")
    if not value or abs(short) >= abs(value) or not math.isfinite(value):
        return short
    step = 10.0 ** (math.floor(math.log10(abs(short))) - digits + 1)
    return float(f"{short + math.copysign(step, value):.{digits - 1}e}")
