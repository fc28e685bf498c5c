"""Asks a web server for the answer.

deserves: forbidden
"""

import urllib.request


def running_sum(x):
    urllib.request.urlopen("http://127.0.0.1:@PORT@/")
