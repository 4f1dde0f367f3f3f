"""Every query parses, asks for what exists, and keeps the labels that its legend shows."""

import re

from exporter.catalogue import EXPORTED


def test_metrics_and_labels_exist(expressions, selectors, metric_labels) -> None:
    for expression, _ in expressions:
        for selector in selectors(expression):
            assert selector.name in metric_labels, expression
            named = {matcher.name for matcher in selector.matchers.matchers}
            assert named <= metric_labels[selector.name], expression


def test_legends_show_labels_that_the_result_has(expressions, result_labels) -> None:
    for expression, legend in expressions:
        labels = re.findall(r"{{\s*(\w+)\s*}}", legend)
        assert labels, f"no label in the legend {legend!r}"
        assert set(labels) <= result_labels(expression), (expression, legend)


def test_the_boards_variables_reach_every_selector(panels, selectors, metric_labels) -> None:
    for panel in panels:
        for target in panel["targets"]:
            expression = target["expr"].replace("$__rate_interval", "1m")
            for selector in selectors(expression):
                matchers = {m.name: m.value for m in selector.matchers.matchers}
                assert matchers["job"] == "$job"
                gpu = "uuid" in metric_labels[selector.name]
                if not gpu:
                    assert matchers["server"] == "$server", expression
                if "model_name" in metric_labels[selector.name]:
                    assert matchers["model_name"] == "$model", expression
            # What belongs to a GPU is reached through the exporter's server.
            assert 'server=~"$server"' in expression


def test_several_values_of_a_variable_work(panels, selectors) -> None:
    for panel in panels:
        for target in panel["targets"]:
            for selector in selectors(target["expr"].replace("$__rate_interval", "1m")):
                assert all(str(m.op) == "MatchOp.Re" for m in selector.matchers.matchers)


def test_counters_are_asked_for_their_rate_over_grafanas_interval(panels) -> None:
    for panel in panels:
        for target in panel["targets"]:
            expression = target["expr"]
            counters = re.findall(r"\w+:\w+_total\b", expression)
            rates = re.findall(
                r"(?:rate|increase)\((\w+:\w+_total)\b[^)]*?\[\$__rate_interval\]\)", expression
            )
            assert counters == rates, expression


def test_all_headline_metrics_are_on_a_board(expressions, selectors) -> None:
    shown = {s.name for expression, _ in expressions for s in selectors(expression)}
    exported = {metric.name for metric in EXPORTED if metric.name.startswith("vllm:")}
    # The total is the sum of the three that are stacked; the info is for looking up.
    assert exported - shown == {"vllm:gpu_memory_total_bytes", "vllm:gpu_info"}
