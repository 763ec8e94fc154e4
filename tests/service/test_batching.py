"""Batches of concurrent requests: nobody's answer is lost, late for nothing, or another's."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import wait
from contextlib import contextmanager

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from fairseq_plugins.service.batching import Batcher, Closed, Full, outcomes

LONG = 30  # seconds; never waited for


def doubled(items: Sequence[int]) -> list[int]:
    """Answer numbers; a negative one spoils the batch that it is in."""
    if bad := [item for item in items if item < 0]:
        raise ValueError(f"bad {bad[0]}")
    return [2 * item for item in items]


@contextmanager
def batching(answer=doubled, names=("a",), **how):
    """Give a batcher whose first batch waits until ``go`` is set, and the batches so far."""
    go, seen, begun = threading.Event(), [], threading.Event()

    def work(name):
        def slow(items):
            seen.append((name, list(items)))
            begun.set()
            assert go.wait(LONG)
            return answer(items)

        return slow

    batcher = Batcher({name: work(name) for name in names}, **how)
    try:
        yield batcher, go, seen, begun
    finally:
        go.set()
        batcher.close(LONG)
    assert not any(thread.is_alive() for thread in batcher._threads)


REQUESTS = st.lists(
    st.tuples(
        st.lists(st.integers(-3, 1000), min_size=1, max_size=9),
        st.sampled_from(["stay", "stay", "stay", "leave", "leave later"]),
        st.sampled_from(["one", "two"]),
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None, phases=[Phase.generate])  # threads: no two runs alike
@given(REQUESTS, st.integers(1, 4), st.integers(1, 6), st.integers(1, 20), st.randoms())
def test_answers_are_never_lost_or_mixed_up(requests, workers, most, heaviest, random):
    sizes, pauses = [], [random.random() / 2000 for _ in range(8)]

    def model(factor):
        def answer(items):
            sizes.append((len(items), sum(map(abs, items))))
            time.sleep(pauses[len(sizes) % len(pauses)])
            return [factor * item for item in doubled(items)]

        return answer

    models = {"one": model(1), "two": model(10)}
    batcher = Batcher(models, workers=workers, most=most, heaviest=heaviest, room=1000)
    futures = []
    for number, (items, stays, name) in enumerate(requests):
        futures.append(batcher.submit(name, items, [abs(item) for item in items]))
        if stays == "leave":
            futures[-1].cancel()
        if stays == "leave later":
            futures[number // 2].cancel()
        time.sleep(pauses[number % len(pauses)])
    batcher.close(LONG)
    assert not wait([one for one in futures if not one.cancelled()], 0).not_done
    for (items, _, name), future in zip(requests, futures):
        bad = [f"bad {item}" for item in items if item < 0]
        if future.cancelled():
            assert any(stays != "stay" for _, stays, _ in requests)
        elif error := future.exception(0):
            assert str(error) in bad
        else:
            assert not bad
            assert future.result(0) == [2 * item * (1 if name == "one" else 10) for item in items]
    assert all(size <= most and (size == 1 or weight <= heaviest) for size, weight in sizes)
    assert (batcher.waiting, batcher.running) == (0, 0)


def test_what_waits_becomes_a_batch_and_who_asks_alone_is_answered_at_once():
    with batching(most=4) as (batcher, go, seen, begun):
        futures = [batcher.submit("a", [0])]
        assert begun.wait(LONG)  # alone, and at once
        futures += [batcher.submit("a", [k]) for k in range(1, 11)]
        assert (batcher.waiting, batcher.running) == (10, 1)
        go.set()
        assert [f.result(LONG) for f in futures] == [[2 * k] for k in range(11)]
    assert [items for _, items in seen] == [[0], [1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]


def test_a_bad_item_is_refused_alone_and_the_others_are_computed_once():
    computed = []

    def answer(items):
        found = doubled(items)
        computed.extend(items)
        return found

    with batching(answer) as (batcher, go, _, begun):
        first = batcher.submit("a", [0])
        begun.wait(LONG)
        futures = [batcher.submit("a", [k, -k - 1] if k in (3, 7) else [k]) for k in range(1, 12)]
        go.set()
        assert first.result(LONG) == [0]
        for k, future in enumerate(futures, 1):
            if k in (3, 7):
                with pytest.raises(ValueError, match=f"bad {-k - 1}"):
                    future.result(LONG)
            else:
                assert future.result(LONG) == [2 * k]
    assert sorted(computed) == list(range(12))


@pytest.mark.parametrize("count", [1, 2, 7])
def test_halves_find_every_bad_item(count):
    items = [k if k % 3 else -1 for k in range(count)]
    found = outcomes(doubled, items)
    assert [str(one) for one in found] == [str(2 * k) if k > 0 else "bad -1" for k in items]
    assert "2 items" not in str(outcomes(lambda items: [1], [5]))
    assert "2 answers to 1 items" in str(outcomes(lambda items: [1, 2], [5])[0])


def test_models_take_turns():
    with batching(names=("a", "b"), most=2) as (batcher, go, seen, begun):
        futures = [batcher.submit("a", [0])]
        begun.wait(LONG)
        futures += [batcher.submit("a", [k]) for k in range(6)] + [batcher.submit("b", [9])]
        go.set()
        wait(futures, LONG)
    assert [name for name, _ in seen] == ["a", "a", "b", "a", "a"]


def test_no_more_than_there_is_room_for_may_wait():
    with batching(room=3) as (batcher, go, seen, begun):
        running = batcher.submit("a", [0])
        begun.wait(LONG)
        waiting = [batcher.submit("a", [k]) for k in (1, 2, 3)]
        with pytest.raises(Full, match="3 of at most 3 wait already"):
            batcher.submit("a", [4])
        assert waiting[1].cancel()
        late = batcher.submit("a", [5])  # in the place of who left
        assert batcher.waiting == 3
        go.set()
        assert [one.result(LONG) for one in (running, waiting[0], late)] == [[0], [2], [10]]
    assert [items for _, items in seen] == [[0], [1, 3, 5]]


def test_heavy_items_are_batches_of_their_own():
    with batching(heaviest=10) as (batcher, go, seen, begun):
        futures = [batcher.submit("a", [0])]
        begun.wait(LONG)
        futures.append(batcher.submit("a", [1, 2, 3, 4], [4, 6, 99, 1]))
        go.set()
        wait(futures, LONG)
    assert [items for _, items in seen] == [[0], [1, 2], [3], [4]]


def test_the_end_answers_what_waits_and_takes_nothing_more():
    with batching(workers=2) as (batcher, go, _, begun):
        first = batcher.submit("a", [1])
        begun.wait(LONG)
        others = [batcher.submit("a", [k]) for k in range(50)]
        assert batcher.alive
        go.set()
        batcher.close(LONG)
        assert not batcher.alive
        assert first.result(0) == [2]
        assert [one.result(0) for one in others] == [[2 * k] for k in range(50)]
        with pytest.raises(Closed):
            batcher.submit("a", [1])


def test_two_threads_work_at_once():
    both = threading.Barrier(2, timeout=LONG)

    def answer(items):
        both.wait()
        return items

    batcher = Batcher({"a": answer}, workers=2, most=1)
    futures = [batcher.submit("a", [k]) for k in range(2)]
    assert [one.result(LONG) for one in futures] == [[0], [1]]
    batcher.close(LONG)


class Panic(BaseException):
    """What some libraries raise that are not written in Python."""


def test_a_panic_fails_its_own_item_and_no_thread():
    def answer(items):
        if -1 in items:
            raise Panic("here")
        return doubled(items)

    with batching(answer, workers=1) as (batcher, go, _, _):
        go.set()
        with pytest.raises(RuntimeError, match="Panic: here"):
            batcher.submit("a", [-1]).result(LONG)
        assert batcher.submit("a", [3]).result(LONG) == [6]
        assert batcher.alive


def test_a_full_queue_of_one_model_leaves_room_for_others():
    with batching(names=("a", "b"), workers=1, room=2, most=1) as (batcher, go, _, begun):
        first = batcher.submit("a", [1])
        assert begun.wait(LONG)
        others = [batcher.submit("a", [2, 3])]
        with pytest.raises(Full, match="2 of at most 2 wait"):
            batcher.submit("a", [4])
        others.append(batcher.submit("b", [5]))
        go.set()
        assert [one.result(LONG) for one in (first, *others)] == [[2], [4, 6], [10]]


def test_weights_that_do_not_fit_leave_nothing_behind():
    with batching() as (batcher, go, _, _):
        go.set()
        with pytest.raises(ValueError, match="zip"):
            batcher.submit("a", [1, 2], [1])
        assert batcher.waiting == 0
