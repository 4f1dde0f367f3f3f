"""The board "vLLM: wallboard": the overview's tiles, for a screen that nobody operates."""

from __future__ import annotations

from alerts.settings import Settings
from dashboards import figures, scales, uids
from dashboards.board import Board, public_board
from dashboards.elements import Query, Size
from dashboards.layer import Panel, Section, bar_gauge, gauge
from dashboards.promql import everything
from dashboards.tiles import MODEL, SERVER, Tiles


def build(settings: Settings) -> Board:
    """Return the board, with thresholds from ``settings``."""
    tiles = Tiles(everything(settings), settings, None, None)
    return public_board(
        uids.WALLBOARD,
        "vLLM: wallboard",
        "All servers at a glance, without variables: for kiosks and public links.",
        [
            Section(
                0,
                "",
                [
                    tiles.servers_up(1, Size(4, 5)),
                    tiles.servers_unreachable(2, Size(4, 5)),
                    tiles.firing_alerts(3, Size(4, 5)),
                    tiles.running(9, Size(6, 5)),
                    tiles.waiting(10, Size(6, 5)),
                    _hit_rate(settings),
                    _gpu_memory(settings),
                    _kv_cache(settings),
                    tiles.first_token(7, Size(8, 6)),
                    tiles.output_tokens(8, Size(8, 6)),
                    tiles.error_share(11, Size(8, 6)),
                ],
            )
        ],
        settings.grafana.datasource,
    )


def _hit_rate(settings: Settings) -> Panel:
    return gauge(
        4,
        "Hit rate",
        "Share of prompt tokens that the prefix cache had. Red: caching hardly works; see the "
        "board on prefix cache and memory.",
        Size(8, 8),
        [Query(figures.hit_rate(everything(settings)), MODEL)],
        scales.hit_rate(settings),
    )


def _gpu_memory(settings: Settings) -> Panel:
    return gauge(
        5,
        "GPU memory",
        "Share of memory in use on each server's fullest GPU. Red: the next request may fail for "
        "want of memory; see the board on prefix cache and memory.",
        Size(8, 8),
        [Query(figures.gpu_memory(everything(settings)), SERVER)],
        scales.gpu_memory(settings),
    )


def _kv_cache(settings: Settings) -> Panel:
    return bar_gauge(
        6,
        "KV cache in use",
        "Share of the KV cache that requests hold, on the fullest engine. Near 100 % requests "
        "wait or are preempted.",
        Size(8, 8),
        [Query(figures.kv_cache(everything(settings)), MODEL)],
        scales.kv_cache(settings),
    )
