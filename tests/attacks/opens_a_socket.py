"""Asks a server for the answer.

deserves: forbidden
"""

import socket


def running_sum(x):
    with socket.create_connection(("127.0.0.1", int("@PORT@")), timeout=1):
        return x
