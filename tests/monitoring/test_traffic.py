"""The demo's load, on a stand-in for vLLM's completions."""

import threading
import time
from itertools import islice

import pytest

from monitoring.demo.prompts import OWN_WORDS, SHARED_WORDS, prompts
from monitoring.demo.traffic import Traffic, TrafficError, served_model


def test_shared_prompts_share_all_but_their_ends():
    first, second = islice(prompts("shared", 1), 2)
    other = next(prompts("shared", 2))
    begin = first.split()[:SHARED_WORDS]
    assert second.split()[:SHARED_WORDS] == begin == other.split()[:SHARED_WORDS]
    assert len({first, second, other}) == 3
    assert len(first.split()) == SHARED_WORDS + OWN_WORDS


def test_unique_prompts_differ_from_the_first_words_on():
    texts = [*islice(prompts("unique", 1), 20), *islice(prompts("unique", 2), 20)]
    assert len({tuple(text.split()[:10]) for text in texts}) == 40
    assert {len(text.split()) for text in texts} == {SHARED_WORDS + OWN_WORDS}


@pytest.mark.parametrize("kind", ["shared", "unique"])
def test_the_same_seed_gives_the_same_prompts(kind):
    assert list(islice(prompts(kind, 7), 3)) == list(islice(prompts(kind, 7), 3))


class Completions:
    """Counts what comes, and how much of it at once."""

    def __init__(self, status=200, seconds=0.0):
        self.status, self.seconds = status, seconds
        self.requests = []
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()

    def __call__(self, request):
        with self.lock:
            self.requests.append(request)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        time.sleep(self.seconds)
        with self.lock:
            self.at_once -= 1
        return self.status, {}


def test_requests_are_bounded_in_number_and_rate_and_end_with_the_block(standin_server, until):
    completions = Completions(seconds=0.3)
    url = standin_server({"/v1/completions": completions})
    with Traffic(url, "tiny", "unique", clients=2, rate=50) as traffic:
        until(lambda: traffic.answered >= 6)
    assert completions.at_once == 0
    assert completions.most_at_once == 2
    sent = len(completions.requests)
    assert traffic.answered == sent
    assert traffic.failed == 0
    time.sleep(0.2)
    assert len(completions.requests) == sent
    request = completions.requests[0]
    assert (request["model"], request["max_tokens"]) == ("tiny", 1)
    assert len({request["prompt"] for request in completions.requests}) == sent


def test_quick_answers_do_not_raise_the_rate(standin_server):
    completions = Completions()
    url = standin_server({"/v1/completions": completions})
    with Traffic(url, "tiny", "shared", rate=10):
        time.sleep(1)
    assert 5 <= len(completions.requests) <= 12


def test_failures_are_counted_and_do_not_end_it(standin_server, until, free_port):
    completions = Completions(status=500)
    url = standin_server({"/v1/completions": completions})
    with Traffic(url, "tiny", "shared", rate=50) as traffic:
        until(lambda: traffic.failed >= 2)
        assert traffic.failure == "HTTP 500"
        completions.status = 200
        until(lambda: traffic.answered >= 2)
    with Traffic(f"http://127.0.0.1:{free_port()}", "tiny", "shared") as traffic:
        until(lambda: traffic.failed >= 1)
    assert traffic.failure == "ConnectionError"


def test_the_model_is_the_servers_own(standin_server, free_port):
    url = standin_server({"/v1/models": lambda _: (200, {"data": [{"id": "tiny"}]})})
    assert served_model(url) == "tiny"
    url = standin_server({"/v1/models": lambda _: (200, {"data": []})})
    with pytest.raises(TrafficError, match="does not name a model"):
        served_model(url)
    with pytest.raises(TrafficError, match="nothing answers at"):
        served_model(f"http://127.0.0.1:{free_port()}")
