"""What the tests need of JupyterLab: one that is started as `make lab` starts it, and ended."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CALM = {"JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTER_CONFIG_DIR": "config"}


@contextmanager
def jupyterlab(folder: Path) -> Iterator[str]:
    """The address of a JupyterLab that shows this folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--port={port}", "--IdentityProvider.token=", f"--notebook-dir={folder}"]
    command += [f"--LabApp.extra_labextensions_path={ROOT / 'tools' / 'lab'}"]
    calm = {name: str(folder / path) for name, path in CALM.items()} | {"NO_COLOR": "1"}
    server = subprocess.Popen(
        command, env=os.environ | calm, stderr=subprocess.DEVNULL, start_new_session=True
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(f"{address}/api", timeout=1).close()
                break
            except OSError:
                assert server.poll() is None, "JupyterLab did not start: try `make lab`"
                time.sleep(0.5)
        yield address
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:  # now and then it waits for a kernel for ever
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
