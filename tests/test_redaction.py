"""What is hidden, what stays, and that hostile texts take no time that is not proportional to them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from traindx.redaction import Redacted, from_environment, redact, redact_facts, redact_text, round_outward

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\ndef\n-----END RSA PRIVATE KEY-----"
TOKENS = (
    "sk-proj-Ab3dEf6hIj9kLm2nOp5q", "sk-ant-api03-aaaaaaaaaaaaaaaa", "hf_QwErTyUiOpAsDfGhJkLzXcVbNm",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_" + "a1" * 18, "github_pat_" + "a1" * 20, "xoxb-123456789012-abcdef", "AIza" + "b" * 35, "glpat-" + "c" * 20,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcDEF123_-", "gsk_" + "a1" * 26,
    "SG." + "a1" * 11 + "." + "b2" * 21, "bot123456789:AA" + "c3" * 17,
)  # fmt: skip
HIDE = (  # a command, and what must not be left of it
    ("--api-key abc", "abc"), ("--api_key=abc", "abc"), ("--apiKey abc", "abc"), ("--password 1234", "1234"),
    ("--db-passwd=x1y", "x1y"), ("--secret-key k1", "k1"), ("--hf_token T0k", "T0k"), ("--token T0k", "T0k"),
    ("wandb.api_key=abc", "abc"), ("+trainer.auth_token=abc", "abc"), ("WANDB_API_KEY=" + "0a" * 20, "0a0a"),
    ("--wandb-key " + "0a" * 20, "0a0a"), ("--credential a:b", "a:b"), ("--cookie sid=77", "77"), ("--auth u:pw", "pw"),
    ("--db postgresql://me:pw7@host/db", "pw7"), ("https://u:p@ss@h/x", "ss@h"), ("https://u:p/w@h/x", "p/w"),
    ("https://h/x?token=abcdefg&y=1", "abcdefg"), ("s3://b/k?X-Amz-Signature=0123abcd&x=1", "0123abcd"),
    ("https://0123456789abcdef0123@sentry.io/1", "0123456789"), ("--header Authorization:abc", "abc"),
    ("https://hooks.slack.com/services/T00/B00/a1b2c3d4e5", "a1b2"),
    ("https://discord.com/api/webhooks/1234567890/a1b2c3d4e5", "a1b2"),
    ("--note Bearer_is:x password=abc", "abc"), ("a=b=password=abc", "abc"),
)  # fmt: skip
STAY = (
    "--lr 0.1 --tokenizer bert-base --max-tokens 512 --num_tokens=5 --pad_token_id 0 --pad-token <pad> --token-count 4",
    "--model sk-learn --seed 7 --commit 0123456789abcdef0123456789abcdef01234567 --run-id ab12cd34 --author me --key 5",
    "--data /data/a@b/c --url http://host:8080/p@2 --monkey x --keyword y --passes 3 --forward-pass 2",
    "--password_accuracy=0.9 --loss_per_token=2.3 --cache-key 0123456789abcdef0123456789abcdef01234567",
    "--secret-file a.txt --use-auth-token true --hook forward_hook --page https://discord.com/api/docs SG.1.2 robot123",
    "--image-token <image> --tokens-per-batch=4096 sk-resnet-very-long-name-here hf_model eyJabc --password --lr 3",
    "docker run -u 1000:1000 python -u train.py a:b",
    "epoch 1: loss=0.3 tokens=512 tokens/s: 3 runs/sk-learn-baseline-2 Bearer of bad news, authors: A, B",
)


@pytest.mark.parametrize(
    "text", ["['-u', 'me:tr0ub4dor'] failed", "curl -u me:tr0ub4dor h", "--proxy-user=me:tr0ub4dor"]
)
def test_a_login_in_a_text_is_hidden(text: str) -> None:
    assert redact_text(text) == text.replace("tr0ub4dor", "***")


@pytest.mark.parametrize(("command", "secret"), HIDE)
def test_a_secret_is_hidden_by_its_name(command: str, secret: str) -> None:
    shown = redact(command.split(" "))
    assert secret not in " ".join(shown)
    assert "***" in " ".join(shown)
    assert secret not in redact_text(command)
    assert redact(shown) == shown


@pytest.mark.parametrize("token", TOKENS)
def test_a_secret_is_hidden_by_its_shape(token: str) -> None:
    assert redact(["x.py", token, f"a={token}"]) == ["x.py", "***", "a=***"]
    assert redact_text(f"cannot log in with '{token}'.") == "cannot log in with '***'."


@pytest.mark.parametrize("text", STAY)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text.split(" ")) == text.split(" ")
    assert redact_text(text) == text


def test_texts_as_programs_print_them() -> None:
    assert redact_text("Namespace(api_key='a b', lr=0.1)") == "Namespace(api_key='***', lr=0.1)"
    assert redact_text("['t.py', '--password', 'x', '--lr']") == "['t.py', '--password', '***', '--lr']"
    assert redact_text('assert password == "x" and n == 3') == 'assert password == "***" and n == 3'
    assert redact_text('{"hf_token": "x", "lr": 1}') == '{"hf_token": "***", "lr": 1}'
    assert redact_text(f"key\n{PEM}\nend") == "key\n***\nend"
    assert redact_text("Authorization: Bearer abc --lr 1") == "Authorization: *** --lr 1"


def test_facts_are_hidden_at_any_depth() -> None:
    facts = {"lr": 0.1, "api_key": {"value": "a"}, "a": [{"password": 5}], "auth": {"user": "b"}, "tokens": 5,
             "argv": ["--token", "c"]}  # fmt: skip
    shown = {"lr": 0.1, "api_key": {"value": "***"}, "a": [{"password": "***"}], "auth": {"user": "***"}, "tokens": 5,
             "argv": ["--token", "***"]}  # fmt: skip
    assert redact_facts(facts) == shown


@given(st.lists(st.integers(1, 40), max_size=20))
def test_output_in_pieces_is_the_whole_without_secrets(cuts: list[int]) -> None:
    text = f"loss 1\rloss 2\nlogin {TOKENS[0]}\n\xff\n{PEM}\npassword=abc".encode("latin-1")
    lines, made, place = Redacted(), b"", 0
    for cut in cuts:
        made += lines.add(text[place : place + cut])
        place += cut
    made += lines.add(text[place:]) + lines.rest()
    assert made == b"loss 1\rloss 2\nlogin ***\n\xff\n***\npassword=***"


@given(st.text(max_size=300))
def test_output_without_secrets_is_passed_on_byte_by_byte(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    lines = Redacted()
    if b"***" not in lines.add(data) + lines.rest():
        again = Redacted()
        assert again.add(data) + again.rest() == data


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([0.0, 1.0, 255.0, -1.0, 0.5]))
def test_an_extreme_loses_digits_and_crosses_no_round_bound(value: float, bound: float) -> None:
    short = round_outward(value)
    assert float(f"{short:.2e}") == short
    assert math.isclose(short, value, rel_tol=0.0101, abs_tol=1e-320) or math.isinf(short)
    assert (short > bound) == (value > bound) or value < 0
    assert (short < bound) == (value < bound) or value > 0


def test_round_extremes_stay() -> None:
    assert [round_outward(v) for v in (0.0, 1.0, -1.0, 255.0, 1.0004, 1234.5)] == [
        0.0,
        1.0,
        -1.0,
        255.0,
        1.01,
        1240.0,
    ]


def test_a_login_of_an_option_loses_its_password() -> None:
    assert redact(["curl", "-u", "me:pw7", "--user", "you:a:b"]) == [
        "curl",
        "-u",
        "me:***",
        "--user",
        "you:***",
    ]
    for stays in (
        ["python", "-u", "train.py"],
        ["docker", "--user", "1000:1000"],
        ["x", "-u", "https://host/p"],
    ):
        assert redact(stays) == stays


def test_the_value_of_a_secret_variable_is_hidden_wherever_it_appears(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", "quiet-lantern-88")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/tmp/agent.1")
    monkeypatch.setenv("DB_PASSWORD", "short")
    from_environment.cache_clear()
    try:
        assert redact_text("refused: 'quiet-lantern-88'") == "refused: '***'"
        assert redact_text("a short /tmp/agent.1") == "a short /tmp/agent.1"
    finally:
        monkeypatch.undo()
        from_environment.cache_clear()
