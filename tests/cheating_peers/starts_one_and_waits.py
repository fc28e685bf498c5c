"""A benchmark that has started a contestant, says which process that is, and is then killed by a test."""

import sys
import time

from bench.peers import LIMITS
from bench.peers.process import Peer


def main():
    """Start it, ask it once, so that it stands still, and wait for the end."""
    with Peer(LIMITS[0], sys.executable, 1) as peer:
        peer.request("hello")
        print(peer.process.pid, flush=True)
        time.sleep(60)
