import pytest

from monitoring.budget import models
from monitoring.budget.formats import FORMATS
from monitoring.budget.memory import Plan, budget, safe_utilization
from monitoring.budget.report import ALERT_FIRES, DOES_NOT_FIT, FITS, judge

GIB = 1024**3
H200_USABLE = 150_754_820_096 - 644_939_776


def plan(**changes: object) -> Plan:
    return Plan(**({"weights": FORMATS["bf16"]} | changes))  # type: ignore[arg-type]


def test_the_h200s_share_is_weights_cache_and_one_gibibyte() -> None:
    """The log: 10.57 GiB of weights, 114.25 GiB for the cache, at 0.90."""
    found = budget(
        models.find("llama-3.1-8b"),
        plan(
            gpu_memory_utilization=0.90,
            weights_bytes=round(10.57 * GIB),
            overhead_bytes=GIB,
            max_model_len=8192,
        ),
        H200_USABLE,
    )
    assert found.cache / GIB == pytest.approx(114.25, abs=0.01)
    assert found.token_capacity == pytest.approx(935_888, rel=1e-4)


@pytest.mark.parametrize(("size", "measured"), [(H200_USABLE, 0.857), (24 * GIB, 0.89)])
def test_usage_under_load(size: int, measured: float) -> None:
    found = budget(models.find("llama-3.1-8b"), plan(), size)
    assert found.usage_under_load == pytest.approx(measured, abs=0.002)
    assert found.usage_at_start == pytest.approx(0.85)


def test_a_16_gib_card_stands_above_the_alert_at_0_85() -> None:
    model = models.find("llama-3.1-8b")
    report = judge(model, plan(weights=FORMATS["int4"]), 16 * GIB, "a card", 0.9)
    assert report.budget.usage_under_load == pytest.approx(0.9125)
    assert report.exit_code == ALERT_FIRES
    assert report.proposal is not None
    assert report.proposal.plan.gpu_memory_utilization == 0.83
    assert report.proposal.budget.usage_under_load <= 0.9


def test_the_same_on_24_gib_keeps_quiet() -> None:
    report = judge(models.find("llama-3.1-8b"), plan(), 24 * GIB, "a card", 0.9)
    assert report.exit_code == FITS
    assert report.proposal is not None
    assert report.proposal.changes == ()


def test_safe_utilization_counts_the_growth_in_bytes() -> None:
    assert safe_utilization(16 * GIB, 0.9) == 0.83
    assert safe_utilization(24 * GIB, 0.9) == 0.85
    assert safe_utilization(H200_USABLE, 0.9) == 0.89


def test_weights_that_are_more_than_the_share_do_not_fit() -> None:
    report = judge(models.find("llama-3.3-70b"), plan(), 24 * GIB, "a card", 0.9)
    assert report.exit_code == DOES_NOT_FIT
    assert report.budget.cache < 0
    assert report.budget.longest == 0
    assert report.proposal is None


def test_several_gpus_share_weights_and_heads() -> None:
    model = models.find("llama-3.3-70b")
    one = budget(model, plan(), 80 * GIB)
    four = budget(model, plan(tensor_parallel_size=4), 80 * GIB)
    assert four.weights == pytest.approx(one.weights / 4, abs=1)
    assert four.sequence == one.sequence // 4
    assert four.starts
    assert not one.starts


def test_heads_are_not_split_below_one() -> None:
    model = models.find("gemma-4-e4b")  # 2 heads of keys
    two = budget(model, plan(tensor_parallel_size=2), 80 * GIB)
    eight = budget(model, plan(tensor_parallel_size=8), 80 * GIB)
    assert eight.sequence == two.sequence


def test_gemma_4_31b_in_q4_k_m_on_24_gib_needs_smaller_batches_and_cache() -> None:
    """The guides' own set-up: it does not start with vLLM's default batches."""
    report = judge(
        models.find("gemma-4-31b"), plan(weights=FORMATS["q4_k_m"]), 24 * GIB, "a card", 0.9
    )
    assert report.exit_code == DOES_NOT_FIT
    assert report.budget.cache > 0
    assert report.proposal is not None
    assert report.proposal.budget.starts
    assert "--kv-cache-dtype fp8" in report.proposal.flags
    assert report.proposal.plan.max_num_batched_tokens < 2048
    assert report.proposal.plan.max_model_len == 4096


def test_a_proposal_keeps_a_share_that_was_asked_for_and_fits() -> None:
    asked = plan(gpu_memory_utilization=0.8, max_num_seqs=2)
    report = judge(models.find("llama-3.1-8b"), asked, 24 * GIB, "a card", 0.9)
    assert report.proposal is not None
    assert report.proposal.plan.gpu_memory_utilization == 0.8


def test_q4_k_m_mixes_two_block_sizes() -> None:
    """A file of Gemma 4 31B in Q4_K_M takes some 18.7 GB; guides print 18.0."""
    size = FORMATS["q4_k_m"].size(models.find("gemma-4-31b").parameters)
    assert size / 1e9 == pytest.approx(18.7, abs=0.1)
    assert FORMATS["q4_0"].size(models.find("gemma-4-31b").parameters) < size


def test_the_vision_tower_is_weighed_except_in_gguf() -> None:
    parameters = models.find("gemma-4-31b").parameters
    bare = parameters.total + parameters.repeated
    assert FORMATS["bf16"].size(parameters) == 2 * (bare + parameters.vision)
    assert FORMATS["q8_0"].size(parameters) == round(8.5 / 8 * bare)
