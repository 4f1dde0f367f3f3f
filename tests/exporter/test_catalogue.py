import re

import pytest

from exporter import catalogue, generations


@pytest.mark.parametrize("metric", catalogue.EXPORTED, ids=lambda metric: metric.name)
def test_metric_is_named_and_described_as_prometheus_wants(metric):
    assert re.fullmatch(r"(vllm:|vllm_exporter_|probe_)[a-z0-9_]+", metric.name)
    assert metric.name.endswith("_total") == (metric.type == "counter")
    assert metric.help.endswith(".")
    assert len(set(metric.labels)) == len(metric.labels)
    assert not {"type", "le", "quantile", "job", "instance"} & set(metric.labels)


def test_names_are_unique_and_all_in_the_list():
    names = [metric.name for metric in catalogue.EXPORTED]
    assert len(set(names)) == len(names)
    subjects = (catalogue.server, catalogue.gpu, catalogue.own)
    assert names == [metric.name for subject in subjects for metric in subject.METRICS]
    for modules in ([catalogue], subjects):
        defined = {
            value.name
            for module in modules
            for value in vars(module).values()
            if isinstance(value, catalogue.ExportedMetric)
        }
        assert defined == set(names)


def test_busy_gpu_is_not_taken_for_a_full_one():
    # NVIDIA's "memory utilization" is a share of time, and is read as one of memory elsewhere.
    about_time = [m for m in catalogue.EXPORTED if m.name.endswith("_utilization")]
    assert about_time == [catalogue.GPU_UTILIZATION]
    assert "Not a share of memory." in catalogue.GPU_UTILIZATION.help
    assert "Used GPU memory divided by" in catalogue.GPU_MEMORY_USAGE.help


def test_exported_names_are_none_that_vllm_writes(helpers):
    exported = {metric.name for metric in catalogue.EXPORTED}
    assert not exported & generations.READ
    for path in helpers.RECORDINGS.glob("*/*.txt"):
        written = set(re.findall(r"^([a-zA-Z_:][\w:]*)", path.read_text(), re.MULTILINE))
        assert not exported & written, path


def test_current_names_are_on_the_recorded_pages(helpers):
    page = helpers.recording("cpu-vllm-0.32.0/metrics-gemma4-after-load").decode()
    for generation in generations.COUNTERS.values():
        for name in (generation[0].queries, generation[0].hits, generation[0].created):
            assert f"\n{name}{{" in page
    assert f"\n{generations.KV_CACHE_USAGE[0]}{{" in page
    assert f"\n{generations.ENGINE_SLEEP_STATE}{{" in page
    assert f"\n{generations.CACHE_CONFIG_INFO}{{" in page
