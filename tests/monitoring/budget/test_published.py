import pytest

from monitoring.budget.published import replay


def test_gemma_4_31b_in_q4_k_m_as_published() -> None:
    found = replay("gemma-4-31b-q4_k_m")
    assert (found.published_weights, found.system) == (18.0, 1.5)
    assert [(row.tokens, row.published_cache, row.published_total) for row in found.rows] == [
        (4096, 0.4, 19.9),
        (8192, 0.8, 20.3),
        (32768, 3.2, 22.7),
    ]
    assert [row.left[24] for row in found.rows] == [4.1, 3.7, 1.3]
    assert found.rows[0].left == {12: -7.9, 16: -3.9, 24: 4.1, 32: 12.1}


def test_the_computation_stands_beside_and_differs() -> None:
    """Published caches grow with the context alone; sliding layers keep their window besides."""
    found = replay("gemma-4-31b-q4_k_m")
    assert found.computed_weights == pytest.approx(18.7, abs=0.1)
    for row in found.rows:
        full = 10 * row.tokens * 2 * 4 * 512 * 2 / 1e9
        assert row.computed_least == pytest.approx(full + 0.839, abs=0.001)
        assert row.computed_reserved > row.computed_least > row.published_cache
