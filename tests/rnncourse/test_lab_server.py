"""A real JupyterLab of the course, without a browser: an idle connection stays, and `rnnlab` is found."""

import json
import time
import urllib.request
import uuid

import pytest
import websocket
from jupyterlab_browser import TOKEN, WAIT, copy_of_the_course, served

IDLE = 65.0  # seconds; jupyter_server looks at a connection every 30

pytestmark = pytest.mark.slow


def asked(address, path, **body):
    """What the server's interface answers to a POST."""
    request = urllib.request.Request(
        f"{address}{path}", json.dumps(body).encode(), {"Authorization": f"token {TOKEN}"}
    )
    return json.load(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60))


def messages(channel, seconds):
    """The messages that come in the next seconds, which pings do not prolong."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        channel.settimeout(left)
        try:
            opcode, data = channel.recv_data(control_frame=True)  # each ping too, answered already
        except websocket.WebSocketTimeoutException:
            return
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            raise ConnectionError("the server has closed the connection")
        if opcode == websocket.ABNF.OPCODE_TEXT:
            yield json.loads(data)


def result_of(channel, code):
    """What a cell prints."""
    header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "username": "", "session": "a",
              "version": "5.4", "date": "2026-01-01T00:00:00Z"}  # fmt: skip
    content = {"code": code, "silent": False, "allow_stdin": False}
    message = {"header": header, "parent_header": {}, "metadata": {}, "content": content}
    channel.send(json.dumps({**message, "channel": "shell", "buffers": []}))
    printed = ""
    awaited = {"idle", "execute_reply"}  # from two sockets of the kernel, in either order
    for answer in messages(channel, WAIT):
        if answer["parent_header"].get("msg_id") != header["msg_id"]:
            continue
        if answer["msg_type"] == "stream":
            printed += answer["content"]["text"]
        awaited -= {answer["msg_type"], answer["content"].get("execution_state")}
        if not awaited:
            return printed
    raise TimeoutError(f"no answer to {code!r}")


def printed_in_a_terminal(address, line, word):
    """What a terminal shows until the word comes."""
    name = asked(address, "/api/terminals")["name"]
    place = f"{address.replace('http', 'ws')}/terminals/websocket/{name}?token={TOKEN}"
    terminal = websocket.create_connection(place, timeout=WAIT)
    terminal.send(json.dumps(["stdin", f"{line}\r"]))
    shown = ""
    for kind, *text in messages(terminal, WAIT):
        if kind == "stdout":
            shown += "".join(text)
        if word in shown:
            break
    terminal.close()
    return shown


def test_an_idle_connection_stays_and_cells_and_terminals_find_the_command(tmp_path):
    (tmp_path / "home").mkdir()
    with served(copy_of_the_course(tmp_path), tmp_path / "home") as address:
        kernel = asked(address, "/api/kernels", name="python3")["id"]
        place = f"{address.replace('http', 'ws')}/api/kernels/{kernel}/channels?token={TOKEN}"
        channel = websocket.create_connection(place, timeout=WAIT)
        version = result_of(channel, "import subprocess; print(subprocess.getoutput('rnnlab --version'))")
        assert version.startswith("rnnlab 0.")
        assert "rnnlab 0." in printed_in_a_terminal(address, "rnnlab --version; echo the'_'end", "the_end")
        assert not [message for message in messages(channel, IDLE) if message["channel"] == "shell"]
        assert result_of(channel, "print(6 * 7)") == "42\n"
        channel.close()
        log = (tmp_path / "home/lab.log").read_text()
    assert "ping" not in log
