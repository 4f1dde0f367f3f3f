"""Each rule on a situation that is made for it, and on its opposite."""

from dataclasses import replace

import pytest

from alerts.settings import load
from monitoring.advise.advice import RULES, advise
from monitoring.advise.finding import Finding, ranked
from monitoring.advise.limits import from_settings
from monitoring.advise.observation import Configuration, GPUObservation, Observation

GIB = 1024**3
LIMITS = from_settings(load())

HEALTHY = Observation(
    server="a:8000",
    seconds=600,
    looked_up=100_000,
    found=80_000,
    requests=100,
    prompt_tokens=100_000,
    running=4,
    running_most=6,
    waiting=0.1,
    cache_usage=0.4,
    cache_usage_most=0.6,
    gpus=(GPUObservation("GPU-1", 0.84, 80 * GIB),),
    configuration=Configuration(
        caching=True, block_tokens=16, utilization=0.83, cache_tokens=100_000, max_num_seqs=8
    ),
)


def gpu(usage: float, size: int = 80, others: int | None = None) -> tuple[GPUObservation, ...]:
    return (GPUObservation("GPU-1", usage, size * GIB, others),)


def told(**changes: object) -> Configuration:
    return replace(HEALTHY.configuration, **changes)  # type: ignore[arg-type]


def seen(**changes: object) -> Observation:
    return replace(HEALTHY, **changes)  # type: ignore[arg-type]


def names(observation: Observation) -> list[str]:
    return [finding.name for finding in advise(observation, LIMITS)]


def only(observation: Observation) -> Finding:
    (finding,) = advise(observation, LIMITS)
    return finding


def flags(finding: Finding) -> list[str]:
    return [str(change) for change in finding.changes]


def test_nothing_to_change_on_a_healthy_server() -> None:
    assert advise(HEALTHY, LIMITS) == []


def test_nothing_to_change_without_traffic() -> None:
    assert advise(Observation(configuration=HEALTHY.configuration), LIMITS) == []


# Situation, the rule that must find it, and the same with the one thing undone.
SITUATIONS = [
    (
        "memory-without-benefit",
        {"gpus": gpu(0.88), "found": 20_000, "configuration": told(utilization=0.87)},
        {"found": 80_000},
    ),
    (
        "memory-without-benefit",
        {"gpus": gpu(0.88), "found": 20_000, "configuration": told(utilization=0.87)},
        {"looked_up": 500, "found": 100},
    ),
    (
        "caching-disabled",
        {"configuration": told(caching=False), "looked_up": 0, "found": 0},
        {"configuration": told(caching=True)},
    ),
    (
        "prefix-shorter-than-block",
        {"found": 0, "prompt_tokens": 9_000, "configuration": told(block_tokens=128)},
        {"found": 60_000},
    ),
    ("preemptions", {"preemptions": 7, "cache_usage_most": 1.0}, {"preemptions": 0}),
    (
        "queueing-with-free-cache",
        {"waiting": 12, "running": 8, "running_most": 8, "cache_usage_most": 0.3},
        {"cache_usage_most": 0.9},
    ),
    (
        "queueing-with-free-cache",
        {"waiting": 12, "running": 8, "running_most": 8, "cache_usage_most": 0.3},
        {"waiting": 0.2},
    ),
    (
        "cache-saturated",
        {"waiting": 5, "cache_usage": 0.97, "cache_usage_most": 1.0},
        {"waiting": 0},
    ),
    (
        "cache-saturated",
        {"waiting": 5, "cache_usage": 0.97, "cache_usage_most": 1.0},
        {"cache_usage": 0.6, "cache_usage_most": 0.75},
    ),
    (
        "alert-by-configuration",
        {"gpus": gpu(0.91, 24), "configuration": told(utilization=0.9)},
        {"gpus": gpu(0.84, 24), "configuration": told(utilization=0.83)},
    ),
    ("another-process", {"gpus": gpu(0.89)}, {"gpus": gpu(0.84)}),
    ("another-process", {"gpus": gpu(0.85, others=9 * GIB)}, {"gpus": gpu(0.85, others=0)}),
    (
        "memory-high",
        {"gpus": gpu(0.92), "configuration": told(utilization=None)},
        {"gpus": gpu(0.84)},
    ),
    (
        "low-hit-rate",
        {"found": 20_000},
        {"found": 80_000},
    ),
]


@pytest.mark.parametrize(("name", "situation", "opposite"), SITUATIONS)
def test_situation_and_opposite(
    name: str, situation: dict[str, object], opposite: dict[str, object]
) -> None:
    assert names(seen(**situation)) == [name]
    assert names(seen(**(situation | opposite))) == []


def test_every_rule_has_a_situation() -> None:
    assert len({name for name, _, _ in SITUATIONS}) == len(RULES)


@pytest.mark.parametrize(("name", "situation"), [each[:2] for each in SITUATIONS])
def test_every_finding_is_complete(name: str, situation: dict[str, object]) -> None:
    finding = only(seen(**situation))
    for text in (finding.evidence, finding.cause, finding.action, finding.cost):
        assert text
    assert finding.verification
    assert any(character.isdigit() for character in finding.evidence) or name == "caching-disabled"


def test_caching_disabled_names_the_switch() -> None:
    finding = only(seen(configuration=told(caching=False), looked_up=0, found=0))
    assert flags(finding) == ["--enable-prefix-caching"]


def test_queueing_names_twice_the_sequences_where_the_cache_is_empty() -> None:
    situation = seen(waiting=12, running=8, running_most=8, cache_usage_most=0.1)
    assert flags(only(situation)) == ["--max-num-seqs 16"]


def test_queueing_names_fewer_where_the_cache_is_fuller() -> None:
    situation = seen(waiting=12, running=8, running_most=8, cache_usage_most=0.6)
    assert flags(only(situation)) == ["--max-num-seqs 10"]


def test_queueing_infers_the_limit_from_what_ran() -> None:
    situation = seen(
        waiting=12, running_most=32, cache_usage_most=0.1, configuration=told(max_num_seqs=None)
    )
    assert flags(only(situation)) == ["--max-num-seqs 64"]


def test_preemptions_name_what_the_cache_holds() -> None:
    situation = seen(preemptions=7, cache_usage_most=1.0, running_most=20)
    assert flags(only(situation)) == ["--max-num-seqs 16"]


def test_preemptions_never_name_none() -> None:
    assert flags(only(seen(preemptions=1, running_most=1))) == ["--max-num-seqs 1"]


def test_alert_by_configuration_names_a_share_that_keeps_quiet() -> None:
    situation = seen(gpus=gpu(0.91, 16), configuration=told(utilization=0.85))
    finding = only(situation)
    assert flags(finding) == ["--gpu-memory-utilization 0.83"]
    assert finding.urgency == "critical"


def test_alert_by_configuration_is_told_before_it_fires() -> None:
    situation = seen(gpus=gpu(0.86, 16), configuration=told(utilization=0.85))
    assert only(situation).urgency == "warning"


def test_short_prefixes_have_no_smaller_block_to_offer_at_16() -> None:
    situation = seen(found=0, prompt_tokens=1_000)
    finding = only(situation)
    assert finding.name == "prefix-shorter-than-block"
    assert finding.changes == ()


def test_the_second_process_that_was_measured() -> None:
    """On an H200 at 0.85, 8.4 GiB of a second process took 0.857 to 0.922."""
    usable = (150_754_820_096 - 644_939_776) / GIB
    one = (GPUObservation("GPU-1", 0.857, round(usable * GIB)),)
    two = (GPUObservation("GPU-1", 0.922, round(usable * GIB)),)
    at_085 = told(utilization=0.85)
    assert names(seen(gpus=one, configuration=at_085)) == []
    finding = only(seen(gpus=two, configuration=at_085))
    assert (finding.name, finding.urgency) == ("another-process", "critical")


def test_the_published_case() -> None:
    """Multi-turn chat, 8K context: 16 sequences and 8192 batched tokens, then 8 and 4096."""
    before = seen(
        found=85_000,
        gpus=gpu(0.92, 24),
        configuration=Configuration(
            caching=True, block_tokens=16, max_num_seqs=16, max_num_batched_tokens=8192
        ),
    )
    finding = only(before)
    assert finding.urgency == "critical"
    assert flags(finding) == ["--max-num-seqs 8", "--max-num-batched-tokens 4096"]
    assert "10.7 to 9.5 tokens/s" in finding.cost
    assert "below 0.85" in finding.verification
    after = replace(
        before,
        found=80_000,
        gpus=gpu(0.84, 24),
        configuration=replace(before.configuration, max_num_seqs=8, max_num_batched_tokens=4096),
    )
    assert advise(after, LIMITS) == []


def test_two_findings_on_the_share_do_not_contradict_each_other() -> None:
    """As it was seen: a share of 0.92 on 24 GiB, and a hit rate of 0.37."""
    situation = seen(
        gpus=gpu(0.93, 24),
        found=37_000,
        cache_usage_most=0.01,
        configuration=told(utilization=0.92),
    )
    first, second = advise(situation, LIMITS)
    assert (first.name, second.name) == ("alert-by-configuration", "memory-without-benefit")
    assert flags(first) == flags(second) == ["--gpu-memory-utilization 0.85"]


def test_the_fullest_gpu_decides() -> None:
    both = (*gpu(0.84), GPUObservation("GPU-2", 0.92, 80 * GIB))
    finding = only(seen(gpus=both, configuration=told(utilization=None)))
    assert finding.name == "memory-high"


def test_findings_are_ranked_by_urgency() -> None:
    situation = seen(
        gpus=gpu(0.95, 24),
        configuration=told(utilization=0.92),
        preemptions=3,
        cache_usage_most=1.0,
    )
    assert names(situation) == ["alert-by-configuration", "preemptions"]
    assert [each.urgency for each in advise(situation, LIMITS)] == ["critical", "warning"]


def test_ranking_keeps_the_order_of_the_rules_within_an_urgency() -> None:
    findings = [
        Finding(name, urgency, "", "", "", "", "", "")  # type: ignore[arg-type]
        for name, urgency in (("a", "info"), ("b", "warning"), ("c", "critical"), ("d", "warning"))
    ]
    assert [finding.name for finding in ranked(findings)] == ["c", "b", "d", "a"]
