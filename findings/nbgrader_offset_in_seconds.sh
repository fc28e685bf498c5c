#!/usr/bin/env bash
# Versions:  nbgrader 0.9.6
# Expected:  parse_utc reads "2026-03-01 12:00 +0100" as 11:00 UTC: dateutil, which it uses, does.
# Guess:     11:00, as dateutil reads it.
# Seen:      11:58:20: the offset is read as an integer, 100 seconds. With a colon, +01:00, the offset is ignored: 12:00. "CET"
#            is right, and so is 2026-03-01T12:00:00+0100, without the blank.
# Why here:  a class's due date and timestamps decide which work is late: written with an offset they are off by an hour or
#            more. The collector of ours shows the times of timestamp.txt as they stand there.
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check nbgrader==0.9.6
cd "$work"
"$work/venv/bin/python" - <<'PROGRAM'
import sys

from nbgrader.utils import parse_utc

texts = ("2026-03-01 12:00 +0100", "2026-03-01 12:00 +01:00", "2026-03-01T12:00:00+0100", "2026-03-01 12:00 CET")
times = [str(parse_utc(text)) for text in texts]
for text, time in zip(texts, times, strict=True):
    print(text, "->", time)
sys.exit(0 if [time[11:] for time in times] == ["11:58:20", "12:00:00", "11:00:00", "11:00:00"] else 1)
PROGRAM
