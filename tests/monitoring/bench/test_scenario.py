from monitoring.bench.scenario import Scenario, Target, arguments, plan, priming, warm_up

TARGET = Target("http://s:8000", "m", "/tok")
LOAD = Scenario(512, True, 32, 16, 8, 20)


def value(parts: list[str], flag: str) -> str:
    return parts[parts.index(flag) + 1]


def test_shared_prefixes_are_one_and_unique_ones_as_many_as_requests() -> None:
    shared = arguments(TARGET, LOAD, 1, "/out", "r.json")
    unique = arguments(TARGET, Scenario(512, False, 32, 16, 8, 20), 1, "/out", "r.json")
    assert value(shared, "--prefix-repetition-num-prefixes") == "1"
    assert value(unique, "--prefix-repetition-num-prefixes") == "20"
    assert value(shared, "--num-prompts") == value(unique, "--num-prompts") == "20"


def test_nothing_but_the_measured_requests_is_sent() -> None:
    parts = arguments(TARGET, LOAD, 1, "/out", "r.json")
    assert value(parts, "--num-warmups") == "0"
    assert value(parts, "--ready-check-timeout-sec") == "0"


def test_a_server_that_ends_its_connections_is_told_to() -> None:
    once = Target("http://s:8000", "m", "/tok", keeps_connections=False)
    assert value(arguments(once, LOAD, 1, "/out", "r.json"), "--header") == "Connection=close"
    assert "--header" not in arguments(TARGET, LOAD, 1, "/out", "r.json")


def test_priming_sends_the_prefix_once() -> None:
    first = priming(LOAD)
    assert (first.prefix_tokens, first.requests, first.output_tokens) == (512, 1, 1)
    assert first.new_tokens < LOAD.new_tokens


def test_plan_has_every_combination_and_enough_requests() -> None:
    loads = plan([2048, 512], [8, 1], [False, True], new_tokens=32, output_tokens=16, requests=10)
    assert len(loads) == 8
    assert [(load.concurrency, load.prefix_tokens, load.shared) for load in loads[:3]] == [
        (1, 512, False),
        (1, 512, True),
        (1, 2048, False),
    ]
    assert {load.concurrency: load.requests for load in loads} == {1: 10, 8: 16}


def test_each_form_of_prompts_has_its_load_side_by_side() -> None:
    loads = plan(
        [512],
        [1],
        [False, True],
        prompts=["text", "tokens"],
        new_tokens=32,
        output_tokens=16,
        requests=10,
    )
    assert [(load.prompts, load.shared) for load in loads] == [
        ("text", False),
        ("text", True),
        ("tokens", False),
        ("tokens", True),
    ]
    assert len({load.name for load in loads}) == 4
    assert priming(loads[-1]).prompts == "tokens"


def test_warm_up_has_one_load_a_concurrency_with_prefixes_of_its_own() -> None:
    loads = plan([512, 2048], [1, 8], [True], new_tokens=32, output_tokens=16, requests=10)
    first, second = warm_up(loads)
    assert (first.concurrency, second.concurrency) == (1, 8)
    assert not first.shared
    assert first.prefix_tokens == 2048
