"""The board "vLLM: overview"."""

from __future__ import annotations

from alerts.settings import Settings
from dashboards import figures, marks, scales, uids
from dashboards.board import ALERTS, Board, board
from dashboards.elements import NOT_REPORTED, YES_NO, Link, Look, Query, Size
from dashboards.layer import Panel, Section, alert_list, table, time_series
from dashboards.layer.lists import Column
from dashboards.promql import CHOSEN
from dashboards.tiles import MODEL, SERVER, Tiles

_OF_SERIES = "&var-server=${__field.labels.server}"
_OF_ROW = "&var-server=${__data.fields.Server}"


def build(settings: Settings) -> Board:
    """Return the board, with thresholds from ``settings``."""
    tiles = Tiles(
        CHOSEN,
        settings,
        Link("Prefix cache and memory", uids.CACHE_AND_MEMORY, _OF_SERIES),
        Link("Latency and throughput", uids.LATENCY, _OF_SERIES),
    )
    return board(
        uids.OVERVIEW,
        "vLLM: overview",
        "Is caching paying off, is memory safe, are users waiting? All servers on one page.",
        [
            Section(
                0,
                "",
                [
                    tiles.servers_up(1, Size(3, 4)),
                    tiles.servers_unreachable(2, Size(3, 4)),
                    tiles.firing_alerts(3, Size(3, 4)),
                    tiles.hit_rate(4, Size(5, 4)),
                    tiles.gpu_memory(5, Size(5, 4)),
                    tiles.kv_cache(6, Size(5, 4)),
                    tiles.first_token(7, Size(6, 4)),
                    tiles.output_tokens(8, Size(6, 4)),
                    tiles.running(9, Size(3, 4)),
                    tiles.waiting(10, Size(3, 4)),
                    tiles.error_share(11, Size(6, 4)),
                ],
            ),
            Section(0, "", [_servers(settings)]),
            Section(30, "Over time", [_alerts(), _hit_rate(settings), _memory(settings)]),
        ],
        annotations=marks.of_servers(CHOSEN),
    )


def _servers(settings: Settings) -> Panel:
    links = (
        Link("Prefix cache and memory", uids.CACHE_AND_MEMORY, _OF_ROW),
        Link("Latency and throughput", uids.LATENCY, _OF_ROW),
    )
    by_server = (figures.reachable, figures.gpu_memory, figures.error_share)
    up, memory, errors = (figures.per_model(CHOSEN, figure(CHOSEN)) for figure in by_server)
    columns = [
        (up, Column("Up", "A", Look("short", words=YES_NO, no_value=NOT_REPORTED))),
        (figures.hit_rate(CHOSEN), Column("Hit rate", "B", scales.hit_rate(settings))),
        (memory, Column("GPU memory", "C", scales.gpu_memory(settings))),
        (figures.kv_cache(CHOSEN), Column("KV cache", "D", scales.kv_cache(settings))),
        (figures.first_token(CHOSEN, 0.95), Column("TTFT p95", "E", scales.first_token(settings))),
        (figures.output_tokens(CHOSEN), Column("Output tok/s", "F", scales.COUNT)),
        (figures.running(CHOSEN), Column("Running", "G", scales.COUNT)),
        (figures.waiting(CHOSEN), Column("Waiting", "H", scales.waiting(settings))),
        (errors, Column("Errors", "I", scales.error_share(settings))),
    ]
    return table(
        21,
        "Servers and models",
        "One row for each model on each server, with the last value of each figure; colours as in "
        "the tiles above. A server's name links to its boards. A dash means that there is no such "
        "figure: no traffic, or nothing measures it.",
        Size(24, 6),
        [Query(expr, MODEL, instant=True) for expr, _ in columns],
        [
            Column("Server", "server", links=links, width=215),
            Column("Model", "model_name", width=215),
            *(column for _, column in columns),
        ],
        no_value="No server is known",
    )


def _alerts() -> Panel:
    return alert_list(
        31,
        "Alerts in detail",
        "Alerts of this kit that fire or are about to, with what is wrong; open one for what to do."
        " Empty is good news, if the board on the monitoring itself is well.",
        Size(8, 9),
        ALERTS,
        "No alerts",
    )


def _hit_rate(settings: Settings) -> Panel:
    return time_series(
        32,
        "Hit rate over time",
        "The prefix cache's hit rate of each model. A fall after a restart is a cold cache and "
        "mends itself; another one means that prompts changed: see the board on the cache.",
        Size(8, 9),
        [Query(figures.hit_rate(CHOSEN), MODEL)],
        scales.hit_rate(settings),
        calcs=("lastNotNull", "min"),
    )


def _memory(settings: Settings) -> Panel:
    return time_series(
        33,
        "GPU memory over time",
        "The fullest GPU of each server. vLLM takes its share at start and keeps it; a rise later "
        "is CUDA graphs, activations or another process: see the board on memory.",
        Size(8, 9),
        [Query(figures.gpu_memory(CHOSEN), SERVER)],
        scales.gpu_memory(settings),
        calcs=("lastNotNull", "max"),
    )
