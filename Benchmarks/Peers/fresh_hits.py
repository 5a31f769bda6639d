"""Measures a fresh hit in a Python cache: fresh_hits.py PEER BASE-URL URLS LOADS BYTES AT-A-TIME [REDIS-PORT]

Loads URLS numbered URLs once, so that they are stored, and then makes LOADS loads of them in AT-A-TIME threads. Prints
the microseconds of one: the time of all, divided by their number. Every body must have BYTES bytes, and every load after
the first round must be a hit.
"""

import random
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def requests_cache(backend, directory):
    from requests_cache import CachedSession

    session = CachedSession(str(directory / "requests"), backend=backend, cache_control=True)

    def load(url):
        response = session.get(url)
        return response.content, response.from_cache

    return load


def requests_cache_redis(port):
    from redis import Redis
    from requests_cache import CachedSession, RedisCache

    session = CachedSession(backend=RedisCache(connection=Redis(port=port)), cache_control=True)

    def load(url):
        response = session.get(url)
        return response.content, response.from_cache

    return load


def hishel(directory):
    from hishel import CacheOptions, SqliteStorage
    from hishel.httpx import CacheClient

    client = CacheClient(storage=SqliteStorage(database_path=directory / "hishel.db"), rfc=CacheOptions(shared=False))

    def load(url):
        response = client.get(url)
        return response.content, response.extensions["caching"]["from_cache"]

    return load


PEERS = {
    "requests-cache": lambda directory, port: requests_cache("sqlite", directory),
    "requests-cache-memory": lambda directory, port: requests_cache("memory", directory),
    "requests-cache-redis": lambda directory, port: requests_cache_redis(port),
    "hishel": lambda directory, port: hishel(directory),
}


def main(peer, base, count, loads, size, at_a_time, port=None):
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(at_a_time) as threads:
        load = PEERS[peer](Path(directory), port)
        urls = [f"{base}/{number}.txt" for number in range(count)]
        for url in urls:
            load(url)
        random.Random(1).shuffle(urls)

        def hit(number):
            url = urls[number % count]
            content, is_hit = load(url)
            if len(content) != size or not is_hit:
                raise ValueError(f"{peer}: {len(content)} bytes for {url}, hit: {is_hit}")

        start = time.perf_counter()
        if at_a_time == 1:
            for number in range(loads):
                hit(number)
        else:
            list(threads.map(hit, range(loads)))
        print((time.perf_counter() - start) / loads * 1e6)


if __name__ == "__main__":
    peer, base, *numbers = sys.argv[1:]
    main(peer, base, *map(int, numbers))
