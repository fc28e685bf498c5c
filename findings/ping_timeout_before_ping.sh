#!/usr/bin/env bash
# Versions:  jupyter_server 2.21.1, ipykernel 7.3.0, websocket-client 1.9.0
# Expected:  with tornado_settings = {"ws_ping_timeout": 30000}, in milliseconds as jupyter_server reads it, a healthy idle
#            connection stays open: it answers each ping.
# Guess:     a timeout no longer than the interval silences Tornado's warning and changes nothing else.
# Seen:      the server closes the connection after 30 s, before it has sent its first ping.
# Why here:  this setting cut the connection of each kernel every 30 s; replies were lost, and cells stood at [*].
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check jupyter_server==2.21.1 ipykernel==7.3.0 websocket-client==1.9.0
cd "$work"
export HOME="$work" JUPYTER_CONFIG_DIR="$work/config" JUPYTER_DATA_DIR="$work/data" JUPYTER_RUNTIME_DIR="$work/runtime" PATH="$work/venv/bin:$PATH"
"$work/venv/bin/python" - <<'PROGRAM'
import json, socket, subprocess, sys, time, urllib.request

import websocket

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
command = [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", f"--port={port}", "--IdentityProvider.token=t"]
command += ["--ServerApp.tornado_settings={'ws_ping_timeout': 30000}"]
server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    address = f"http://127.0.0.1:{port}/api/kernels?token=t"
    for _ in range(120):
        try:
            made = urllib.request.urlopen(urllib.request.Request(address, data=b"{}", method="POST"), timeout=30)
            break
        except OSError:
            time.sleep(0.5)
    kernel = json.load(made)["id"]
    begin = time.monotonic()
    link = websocket.create_connection(f"ws://127.0.0.1:{port}/api/kernels/{kernel}/channels?token=t", timeout=45)
    pings = 0
    closed = None
    while closed is None and time.monotonic() - begin < 45:
        try:
            code, _ = link.recv_data(control_frame=True)
        except websocket.WebSocketTimeoutException:
            break
        except websocket.WebSocketException:
            code = websocket.ABNF.OPCODE_CLOSE
        pings += code == websocket.ABNF.OPCODE_PING
        if code == websocket.ABNF.OPCODE_CLOSE:
            closed = time.monotonic() - begin
finally:
    server.terminate()
    server.wait(20)
print(f"pings before the end: {pings}; closed after", "no close" if closed is None else f"{closed:.1f} s")
sys.exit(0 if closed is not None and 25 < closed < 40 and pings == 0 else 1)
PROGRAM
