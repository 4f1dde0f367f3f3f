"""Each reason to warn or to fail, against a stand-in that does the one thing wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from monitoring.smoke.check import Check
from monitoring.smoke.client import Client
from monitoring.smoke.examination import examine

EVERY = [
    "version",
    "model",
    "architecture",
    "metrics",
    "prefix caching",
    "cache size",
    "completion",
    "chat completion",
    "streaming",
    "repeated prompt",
]


def checks(url: str, model: str | None = None, most_tokens: int = 600) -> dict[str, Check]:
    found = examine(
        Client(url, 2.0),
        model=model,
        most_tokens=most_tokens,
        seed=7,
        progress=lambda _: None,
    )
    return {check.name: check for check in found}


def test_a_good_server_passes(url: str, behaviour: Any, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"architectures": ["Gemma4ForCausalLM"]}')
    behaviour.models[0]["root"] = str(tmp_path)
    found = checks(url)
    assert list(found) == EVERY
    assert {check.status for check in found.values()} == {"pass"}


@pytest.mark.parametrize("step", [16, 48, 64, 256])
def test_the_step_is_found_by_probing(url: str, behaviour: Any, step: int) -> None:
    behaviour.step = step
    data = checks(url)["repeated prompt"].data
    assert data is not None
    assert data["step"] == step
    assert data["found"] == (data["tokens"] - 1) // step * step > 0


def test_a_step_longer_than_half_the_prompt_is_found_by_the_whole(url: str, behaviour: Any) -> None:
    behaviour.step = 400
    data = checks(url)["repeated prompt"].data
    assert data is not None
    assert data["step"] == 400


def fails(check: Check, reason: str, remedy: str) -> None:
    assert (check.status, reason in check.reason, remedy in check.remedy) == (
        "fail",
        True,
        True,
    ), check


def warns(check: Check, reason: str, remedy: str) -> None:
    assert (check.status, reason in check.reason, remedy in check.remedy) == (
        "warn",
        True,
        True,
    ), check


def test_no_server() -> None:
    found = checks("http://127.0.0.1:9")
    assert list(found) == ["version"]
    fails(found["version"], "nothing answers", "Start the server")


def test_a_server_that_is_not_vllm(url: str, behaviour: Any) -> None:
    behaviour.version = None
    warns(checks(url)["version"], "not vLLM", "vLLM itself")


def test_a_model_that_is_not_served(url: str) -> None:
    found = checks(url, model="other")
    assert list(found) == ["version", "model"]
    fails(found["model"], "other is not served; served: m", "--model")


def test_no_model(url: str, behaviour: Any) -> None:
    behaviour.models = []
    fails(checks(url)["model"], "no model is served", "vLLM itself")


def test_a_key_that_is_missing(url: str, behaviour: Any) -> None:
    behaviour.statuses["/v1/models"] = (401, '{"error": "Unauthorized"}')
    fails(checks(url)["model"], "HTTP 401: Unauthorized", "OPENAI_API_KEY")


def test_an_architecture_that_is_elsewhere(url: str) -> None:
    warns(checks(url)["architecture"], "not on this machine", "server's log")


def test_a_quantization_is_told(url: str, behaviour: Any, tmp_path: Path) -> None:
    config = {"architectures": ["A"], "quantization_config": {"quant_method": "awq"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    behaviour.models[0]["root"] = str(tmp_path)
    check = checks(url)["architecture"]
    assert check.data == {"architecture": "A", "quantization": "awq"}


def test_a_gguf_file_is_told(url: str, behaviour: Any) -> None:
    behaviour.models[0]["root"] = "/models/m-Q4_K_M.gguf"
    assert checks(url)["architecture"].data == {"quantization": "gguf"}


def test_metrics_that_do_not_answer(url: str, behaviour: Any) -> None:
    behaviour.statuses["/metrics"] = (500, "")
    found = checks(url)
    fails(found["metrics"], "HTTP 500", "Prometheus would get the same")
    assert "repeated prompt" not in found


def test_metrics_without_vllm(url: str, behaviour: Any) -> None:
    behaviour.page = "python_info 1\n"
    found = checks(url)
    fails(found["metrics"], "without one series of vLLM", "--disable-log-stats")
    assert "prefix caching" not in found


def test_metrics_of_an_old_vllm(url: str, behaviour: Any) -> None:
    behaviour.page = "vllm:gpu_cache_usage_perc 0.5\n"
    fails(checks(url)["metrics"], "old names", "Update vLLM")


def test_metrics_without_the_prefix_cache(url: str, behaviour: Any) -> None:
    lines = behaviour.page.splitlines()
    behaviour.page = "\n".join(line for line in lines if "prefix_cache_hits_total{" not in line)
    found = checks(url)
    fails(found["metrics"], "vllm:prefix_cache_hits_total", "no hit rate")
    warns(found["repeated prompt"], "not on /metrics", "again")


def test_metrics_without_a_minor_one(url: str, behaviour: Any) -> None:
    lines = behaviour.page.splitlines()
    behaviour.page = "\n".join(line for line in lines if "num_preemptions" not in line)
    warns(checks(url)["metrics"], "vllm:num_preemptions_total", "stay empty")


def test_caching_that_is_off(url: str, behaviour: Any) -> None:
    behaviour.page = behaviour.page.replace(
        'enable_prefix_caching="True"', 'enable_prefix_caching="False"'
    )
    behaviour.looks_up = False
    found = checks(url)
    fails(found["prefix caching"], "off", "--enable-prefix-caching")
    fails(found["repeated prompt"], "0 of", "Is caching on?")


def test_caching_that_is_not_told(url: str, behaviour: Any) -> None:
    behaviour.page = behaviour.page.replace("vllm:cache_config_info", "vllm:something_else")
    found = checks(url)
    warns(found["prefix caching"], "does not tell", "repeated prompt")
    warns(found["cache size"], "does not tell", "log")


def test_a_cache_of_one_sequence(url: str, behaviour: Any) -> None:
    behaviour.page = behaviour.page.replace("47.08045977011494", "1.2")
    warns(checks(url)["cache size"], "1.20 sequences of 4096 tokens", "--max-model-len")


def test_prompts_shorter_than_a_step(url: str, behaviour: Any) -> None:
    behaviour.step = 2048
    fails(checks(url)["repeated prompt"], "0 of", "--block-size 16")


def test_others_on_the_server(url: str, behaviour: Any) -> None:
    behaviour.strangers = 100
    warns(checks(url)["repeated prompt"], "others use the server", "idle")


def test_a_server_that_does_not_count(url: str, behaviour: Any) -> None:
    behaviour.usage = False
    warns(checks(url)["repeated prompt"], "does not count prompt tokens", "idle")


def test_a_completion_that_fails(url: str, behaviour: Any) -> None:
    message = json.dumps({"error": {"message": "out of\nmemory"}})
    behaviour.statuses["/v1/completions"] = (500, message)
    found = checks(url)
    fails(found["completion"], "HTTP 500: out of memory", "log")
    assert "repeated prompt" not in found


def test_a_completion_in_another_form(url: str, behaviour: Any) -> None:
    behaviour.statuses["/v1/completions"] = (200, '{"choices": []}')
    fails(checks(url)["completion"], "not OpenAI's", "log")


def test_a_completion_that_is_not_json(url: str, behaviour: Any) -> None:
    behaviour.statuses["/v1/completions"] = (200, "<html>")
    fails(checks(url)["completion"], "with a web page, not with a JSON object", "log")


def test_answers_without_text(url: str, behaviour: Any) -> None:
    behaviour.text = ""
    found = checks(url)
    warns(found["completion"], "without text", "prompt")
    warns(found["chat completion"], "without text", "chat template")


def test_no_chat_template(url: str, behaviour: Any) -> None:
    message = json.dumps({"error": {"message": "default chat template is no longer allowed"}})
    behaviour.statuses["/v1/chat/completions"] = (400, message)
    warns(checks(url)["chat completion"], "no chat template", "--chat-template")


def test_a_chat_that_fails(url: str, behaviour: Any) -> None:
    behaviour.statuses["/v1/chat/completions"] = (500, "")
    fails(checks(url)["chat completion"], "HTTP 500", "log")


def test_a_stream_without_pieces(url: str, behaviour: Any) -> None:
    behaviour.pieces = ()
    fails(checks(url)["streaming"], "no piece", "proxy")


def test_a_stream_that_breaks_off(url: str, behaviour: Any) -> None:
    behaviour.ends = False
    fails(checks(url)["streaming"], "broke off after 3", "proxy")


def test_a_stream_that_comes_at_once(url: str, behaviour: Any) -> None:
    behaviour.pieces = (0.3, 0.0, 0.0)
    warns(checks(url)["streaming"], "all at once", "proxy_buffering")


def test_a_stream_that_does_not_end(url: str, behaviour: Any) -> None:
    behaviour.pieces = (0.0, 1.2, 1.2)
    fails(checks(url)["streaming"], "did not answer completely within 2 s", "log")


@pytest.mark.parametrize(
    ("status", "body", "reason", "remedy"),
    [
        (200, "<!DOCTYPE html>", "with a web page", "vLLM itself"),
        (200, "", "with nothing", "vLLM itself"),
        (200, "[" * 100_000, "not with a JSON object", "vLLM itself"),
        (500, "<html>", "HTTP 500 with a web page", "See the server's log"),
        (401, '{"error": "no"}', "HTTP 401: no", "OPENAI_API_KEY"),
        (302, "", "redirects to nowhere", "vLLM itself"),
    ],
)
def test_something_else_is_there(
    url: str, behaviour: Any, status: int, body: str, reason: str, remedy: str
) -> None:
    behaviour.statuses["/version"] = (status, body)
    found = checks(url)
    assert list(found) == ["version"]
    fails(found["version"], reason, remedy)


@pytest.mark.parametrize("version", ['["0.30"]', "null", '""', "{}", "1e400"])
def test_a_version_that_is_none(url: str, behaviour: Any, version: str) -> None:
    behaviour.statuses["/version"] = (200, f'{{"version": {version}}}')
    warns(checks(url)["version"], "tells none", "vLLM itself")


def test_what_the_server_says_does_nothing_to_the_terminal(url: str, behaviour: Any) -> None:
    behaviour.version = "\x1b[2J\n" + "x" * 5000
    reason = checks(url)["version"].reason
    assert reason.isprintable()
    assert len(reason) < 500


@pytest.mark.parametrize(
    "models",
    [5, {}, [5], [{"id": 5}], [{"id": ""}], [{"max_model_len": 5}]],
    ids=str,
)
def test_models_in_another_form_are_none(url: str, behaviour: Any, models: Any) -> None:
    behaviour.models = models
    fails(checks(url)["model"], "no model is served", "vLLM itself")


@pytest.mark.parametrize("length", ["4096", -1, 1e300, True], ids=lambda x: str(x)[:5])
def test_a_context_that_is_none_is_not_believed(url: str, behaviour: Any, length: Any) -> None:
    behaviour.models = [{"id": "m", "max_model_len": length}]
    found = checks(url)
    assert found["model"].reason == "m"
    assert found["repeated prompt"].status == "pass"


@pytest.mark.parametrize(
    "answer",
    [
        "{}",
        "[]",
        '{"choices": 5}',
        '{"choices": []}',
        '{"choices": [5]}',
        '{"choices": [{"text": 5}]}',
        '{"choices": [{"text": "a"}], "usage": 5}',
    ],
)
def test_a_completion_in_no_known_form(url: str, behaviour: Any, answer: str) -> None:
    behaviour.statuses["/v1/completions"] = (200, answer)
    assert checks(url)["completion"].status == "fail"


@pytest.mark.parametrize("count", ["NaN", "+Inf", "-Inf"])
def test_counters_that_are_no_numbers(url: str, behaviour: Any, count: str) -> None:
    behaviour.found = count
    behaviour.step = 10**9
    behaviour.take = lambda prompt: len(prompt.split()) + 1
    warns(checks(url)["repeated prompt"], "are no numbers", "idle server")


def test_more_series_than_any_server_has(url: str, behaviour: Any) -> None:
    behaviour.page = "vllm:num_requests_running 1\n" * 30_000
    found = checks(url)
    fails(found["metrics"], "more series of vLLM than any server's", "Prometheus")
    assert "repeated prompt" not in found
