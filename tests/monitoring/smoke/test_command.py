from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from monitoring.smoke.command import command
from monitoring.smoke.prompt import words


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_pass_and_warn_end_with_0(url: str) -> None:
    result = run(url, "--json")
    answer = json.loads(result.stdout)
    assert result.exit_code == 0
    assert answer["status"] == "pass"
    assert answer["checks"][0]["data"] == {"version": "0.30.0"}


def test_fail_ends_with_1_and_shows_the_remedy(url: str, behaviour: Any) -> None:
    behaviour.pieces = ()
    result = run(url)
    assert result.exit_code == 1
    assert "fail streaming" in result.stdout
    assert "is a proxy between?" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("ftp://x",), "no URL of a server"), (("--max-tokens", "1"), "--max-tokens")],
)
def test_bad_input_is_told_in_one_line(arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr.strip().splitlines()[-1]


def test_two_runs_send_prompts_of_their_own(url: str, behaviour: Any) -> None:
    for _ in range(2):
        assert run(url).exit_code == 0
    whole = [" ".join(prompt) for prompt in behaviour.seen if len(prompt) > 2000]
    assert len(set(whole)) == 2


def test_a_longer_prompt_begins_with_the_shorter_one() -> None:
    assert words(40, 1).startswith(words(20, 1) + " ")
    assert words(20, 1) != words(20, 2)


def test_a_key_that_is_none_is_told(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "schlüssel\n")
    result = run(url)
    assert result.exit_code == 2
    assert "OPENAI_API_KEY holds no key" in result.stderr
