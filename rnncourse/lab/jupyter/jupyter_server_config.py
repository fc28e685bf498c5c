"""Keep a line about JupyterLab's own settings out of the terminal of `rnnlab lab`.

jupyter_server 2.21 pings each browser every 30 s and gives up after 90 s without an answer. Tornado 6.6
takes these two for settings of its own pings, which it does not send, and warns that a time-out may not be
longer than the interval. No other value of the two removes the line and keeps the pings: with a time-out of
30 s or less, jupyter_server closes every connection before it has sent its first ping.
"""

import logging


def is_of_use(record: logging.LogRecord) -> bool:
    """Whether a line of Tornado's log asks for anything that a learner can do."""
    return "websocket_ping_timeout" not in record.getMessage()


logging.getLogger("tornado.general").addFilter(is_of_use)
