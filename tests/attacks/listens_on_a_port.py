"""Waits for somebody to send it the answer.

deserves: forbidden
"""

import socket


def running_sum(x):
    socket.create_server(("127.0.0.1", 0))
    return x * 0
