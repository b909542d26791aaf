"""A model comes over a hub, whole or not at all: from a hub on this machine that misbehaves."""

import hashlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from huggingface_hub import close_session, constants

from lib.pretrained import hub
from lib.pretrained.gpt2 import load_gpt2
from lib.pretrained.hub import Published, fetch, folder
from tests.lib.models.test_gpt2 import TINY, difference

COMMIT = "0123456789abcdef0123456789abcdef01234567"
BYTES = {name: (TINY / name).read_bytes() for name in ("config.json", "model.safetensors")}
SHA256 = hashlib.sha256(BYTES["model.safetensors"]).hexdigest()
GIT = hashlib.sha1(b"blob %d\0" % len(BYTES["config.json"]) + BYTES["config.json"]).hexdigest()
NAME = "somebody/tiny-gpt2"


class Hub:
    """A hub with one model, and the store of large files that it sends its readers on to.

    It keeps what was `asked` of it. A transfer breaks off after `cut` bytes, once, and if
    `down_after_cut`, nothing more comes; without `ranges`, the whole comes where a part was asked.
    """

    def __init__(self):
        self.asked: list[tuple[str, str, str | None]] = []
        self.files, self.hashes = dict(BYTES), {"config.json": GIT, "model.safetensors": SHA256}
        self.cut: int | None = None
        self.down = self.down_after_cut = False
        self.ranges = True
        self.pace = 0.0
        self.hub = self.serve(self.answer_as_hub)
        self.store = self.serve(self.answer_as_store)
        self.endpoint = self.address(self.hub)

    def serve(self, answer) -> ThreadingHTTPServer:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                answer(self)

            do_GET = do_HEAD  # noqa: N815

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        return server

    def address(self, server) -> str:
        return f"http://127.0.0.1:{server.server_port}"

    def close(self):
        for server in (self.hub, self.store):
            server.shutdown()
            server.server_close()

    def reply(self, to, status: int, headers: dict, body: bytes = b""):
        to.send_response(status)
        for key, value in {"Content-Length": len(body), **headers}.items():
            to.send_header(key, str(value))
        to.end_headers()
        if to.command == "GET":
            to.wfile.write(body)

    def answer_as_hub(self, to):
        self.asked.append((to.command, to.path, to.headers["Range"]))
        repository, _, rest = to.path[1:].partition("/resolve/")
        commit, _, name = rest.partition("/")
        if repository != NAME:
            return self.reply(to, 401, {"X-Error-Code": "RepoNotFound"})
        if commit not in (COMMIT, "main"):
            return self.reply(to, 404, {"X-Error-Code": "RevisionNotFound"})
        if name not in self.files:
            return self.reply(to, 404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT})
        assert to.headers["Authorization"] is None
        hashed = self.hashes[name]
        if len(hashed) == 40:
            head = {"ETag": f'"{hashed}"', "X-Repo-Commit": COMMIT}
            return self.reply(to, 200, head, self.files[name])
        return self.reply(to, 302, {
            "Location": f"{self.address(self.store)}/{name}", "X-Repo-Commit": COMMIT,
            "X-Linked-Etag": f'"{hashed}"', "X-Linked-Size": len(BYTES[name]),
            # There is another protocol for large files, which this hub offers and does not speak.
            "X-Xet-Hash": "f" * 64, "Link": f'<{self.endpoint}/api/xet>; rel="xet-auth"',
        })  # fmt: skip

    def answer_as_store(self, to):
        self.asked.append((to.command, to.path, to.headers["Range"]))
        if self.down:
            return self.reply(to, 503, {})
        body, head = self.files[to.path[1:]], {}
        whole, status = len(body), 200
        if to.headers["Range"] and self.ranges:
            start = int(to.headers["Range"].removeprefix("bytes=").removesuffix("-"))
            body, status = body[start:], 206
            head = {"Content-Range": f"bytes {start}-{whole - 1}/{whole}"}
        if self.cut is not None:
            # More is promised than comes: the connection breaks off.
            head["Content-Length"], body, self.cut = len(body), body[: self.cut], None
            self.down = self.down_after_cut
            to.close_connection = True
        if self.pace:
            to.send_response(status)
            to.send_header("Content-Length", str(len(body)))
            to.end_headers()
            for start in range(0, len(body), 10_000):
                to.wfile.write(body[start : start + 10_000])
                threading.Event().wait(self.pace)
            return None
        return self.reply(to, status, head, body)

    def ranges_asked(self) -> list[str | None]:
        """What was asked of the store, in order: whole files (None), and the rests of some."""
        return [part for method, path, part in self.asked
                if method == "GET" and path == "/model.safetensors"]  # fmt: skip


@pytest.fixture
def loopback(tmp_path, monkeypatch) -> Iterator[Hub]:
    """The hub, a cache of our own, and no pauses before another try."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda _: None)
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 10_000)  # what is kept at least
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    close_session()  # so that one is opened which knows of no proxy
    served = Hub()
    yield served
    served.close()
    close_session()


def partial(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "models--somebody--tiny-gpt2" / "blobs" / f"{SHA256}.partial"


# Fetched.


def test_a_model_of_the_hub_is_fetched_once_and_then_asked_of_nobody(loopback, tmp_path):
    assert difference(load_gpt2(NAME, endpoint=loopback.endpoint)) <= 1e-5
    assert loopback.ranges_asked() == [None]
    assert ("GET", f"/{NAME}/resolve/{COMMIT}/model.safetensors", None) in loopback.asked
    loopback.asked.clear()
    place = folder(NAME, endpoint=loopback.endpoint)
    assert place.is_relative_to(tmp_path / "cache")
    assert {path.name for path in place.iterdir()} == set(BYTES)
    assert (place / "model.safetensors").read_bytes() == BYTES["model.safetensors"]
    assert loopback.asked == []
    assert not partial(tmp_path).exists()


def test_a_known_name_is_fetched_at_its_commit_with_its_hash(loopback, monkeypatch):
    monkeypatch.setitem(hub.PUBLISHED, "gpt2", Published(NAME, COMMIT, SHA256))
    assert difference(load_gpt2("gpt2", endpoint=loopback.endpoint)) <= 1e-5
    assert {path.split("/resolve/")[1].split("/")[0] for _, path, _ in loopback.asked
            if "/resolve/" in path} == {COMMIT}  # fmt: skip


def test_the_four_published_are_pinned_to_commits_and_gpt2_to_its_hash():
    assert list(hub.PUBLISHED) == ["gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl"]
    for name, published in hub.PUBLISHED.items():
        assert published.repository == f"openai-community/{name}"
        assert hub.HASH.fullmatch(published.commit)
    assert len(hub.PUBLISHED["gpt2"].sha256) == 64


def test_the_environment_names_the_hub(loopback, tmp_path):
    code = f"from lib.pretrained.hub import folder; print(folder({NAME!r}))"
    home = tmp_path / "home"
    environment = {**os.environ, "HF_ENDPOINT": loopback.endpoint, "HF_HOME": str(home)}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    place = Path(run.stdout.strip())
    assert place.is_relative_to(home)
    assert (place / "config.json").is_file()
    assert "100%" in run.stderr  # progress is shown
    assert "model.safetensors" in run.stderr


# Cut.


def test_a_cut_transfer_goes_on_where_it_was_within_one_call(loopback):
    loopback.cut = 50_000
    place = folder(NAME, endpoint=loopback.endpoint)
    assert (place / "model.safetensors").read_bytes() == BYTES["model.safetensors"]
    assert loopback.ranges_asked() == [None, "bytes=50000-"]


def test_a_cut_transfer_goes_on_where_it_was_in_the_next_call(loopback, tmp_path):
    loopback.cut, loopback.down_after_cut = 50_000, True
    with pytest.raises(ConnectionError, match=r"(?s)503.*call again: it goes on where it was cut"):
        folder(NAME, endpoint=loopback.endpoint)
    assert partial(tmp_path).read_bytes() == BYTES["model.safetensors"][:50_000]
    loopback.asked.clear()
    loopback.down = False
    place = folder(NAME, endpoint=loopback.endpoint)
    assert (place / "model.safetensors").read_bytes() == BYTES["model.safetensors"]
    assert loopback.ranges_asked() == ["bytes=50000-"]


@pytest.mark.linux
def test_a_process_killed_in_the_middle_costs_only_the_rest(loopback, tmp_path):
    code = (
        f"from lib.pretrained.hub import folder; folder({NAME!r}, endpoint={loopback.endpoint!r})"
    )
    environment = {**os.environ, "HF_HUB_CACHE": str(tmp_path / "cache")}
    loopback.pace = 0.05
    script = "import huggingface_hub.constants as c; c.DOWNLOAD_CHUNK_SIZE = 10_000\n" + code
    process = subprocess.Popen([sys.executable, "-c", script], env=environment)
    for _ in range(600):
        if partial(tmp_path).exists() and partial(tmp_path).stat().st_size:
            break
        threading.Event().wait(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    came = partial(tmp_path).stat().st_size
    assert 0 < came < len(BYTES["model.safetensors"])
    loopback.pace = 0.0
    loopback.asked.clear()
    place = folder(NAME, endpoint=loopback.endpoint)
    assert (place / "model.safetensors").read_bytes() == BYTES["model.safetensors"]
    assert loopback.ranges_asked() == [f"bytes={came}-"]


def test_a_store_that_sends_the_whole_when_asked_for_the_rest_is_understood(loopback, tmp_path):
    loopback.cut, loopback.ranges = 50_000, False
    place = folder(NAME, endpoint=loopback.endpoint)
    assert (place / "model.safetensors").read_bytes() == BYTES["model.safetensors"]


def test_more_than_the_file_holds_is_begun_anew(loopback, tmp_path):
    partial(tmp_path).parent.mkdir(parents=True)
    partial(tmp_path).write_bytes(bytes(len(BYTES["model.safetensors"]) + 1))
    folder(NAME, endpoint=loopback.endpoint)
    assert loopback.ranges_asked() == [None]


# Damaged.


def test_what_has_another_hash_than_published_is_thrown_away(loopback, tmp_path):
    damaged = bytearray(BYTES["model.safetensors"])
    damaged[70_000] ^= 1
    loopback.files["model.safetensors"] = bytes(damaged)
    with pytest.raises(ValueError, match=f"was damaged: .*expected {SHA256}. It was removed"):
        folder(NAME, endpoint=loopback.endpoint)
    assert not partial(tmp_path).exists()
    loopback.files["model.safetensors"] = BYTES["model.safetensors"]
    folder(NAME, endpoint=loopback.endpoint)


def test_a_damaged_config_is_noticed_by_gits_own_hash(loopback):
    loopback.files["config.json"] = BYTES["config.json"].replace(b"61", b"62")
    with pytest.raises(ValueError, match=rf"was damaged: .*expected {GIT}"):
        folder(NAME, endpoint=loopback.endpoint)


def test_a_file_damaged_in_the_cache_is_noticed_and_fetched_anew(loopback):
    place = folder(NAME, endpoint=loopback.endpoint)
    kept = (place / "model.safetensors").resolve()
    kept.write_bytes(BYTES["model.safetensors"][:-1] + b"x")
    with pytest.raises(ValueError, match="was damaged"):
        folder(NAME, endpoint=loopback.endpoint)
    again = folder(NAME, endpoint=loopback.endpoint)
    assert (again / "model.safetensors").read_bytes() == BYTES["model.safetensors"]


def test_other_weights_under_a_published_name_are_refused_before_they_come(loopback, monkeypatch):
    other = Published(NAME, COMMIT, hub.PUBLISHED["gpt2"].sha256)
    monkeypatch.setitem(hub.PUBLISHED, "gpt2", other)
    with pytest.raises(ValueError, match=rf"offers model.* hash {SHA256}, but .* 248dfc39.*trust"):
        folder("gpt2", endpoint=loopback.endpoint)
    assert loopback.ranges_asked() == []


def test_a_file_that_does_not_belong_to_its_pin_is_refused_from_the_cache_too(loopback):
    folder(NAME, endpoint=loopback.endpoint)
    pinned = Published(NAME, "main", hub.PUBLISHED["gpt2"].sha256)
    with pytest.raises(ValueError, match="expected 248dfc39"):
        fetch(pinned, "model.safetensors", endpoint=loopback.endpoint)


# Not there.


def test_an_unknown_name_is_answered_with_the_known_ones(loopback):
    for name in ("gpt3", "gpt2/", "/gpt2", "./gpt2", "~/gpt2", "a/b/c", "", Path("nowhere")):
        with pytest.raises(FileNotFoundError, match=r"no folder here .*config.json .*gpt2-xl"):
            folder(name, endpoint=loopback.endpoint)
    assert loopback.asked == []
    with pytest.raises(FileNotFoundError, match=r"^nobody/nothing is neither a folder here nor"):
        folder("nobody/nothing", endpoint=loopback.endpoint)


def test_a_commit_or_a_file_that_the_hub_lacks_is_named(loopback):
    with pytest.raises(FileNotFoundError, match=rf"has {NAME}, but not its commit v7"):
        fetch(Published(NAME, "v7"), "config.json", endpoint=loopback.endpoint)
    del loopback.files["model.safetensors"]
    with pytest.raises(FileNotFoundError, match=f"{NAME} holds no model.safetensors. A model that"):
        folder(NAME, endpoint=loopback.endpoint)


def test_offline_it_says_what_to_carry_over(loopback, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    asked = (
        r"config.json of openai-community/gpt2 is not on this machine, and HF_HUB_OFFLINE or .*"
        r"Unset them and start Python anew.*\nWithout a connection, copy config.json and model.*"
        r"give its path, for example './gpt2': the bare name asks the hub\."
    )
    with pytest.raises(ConnectionError, match=asked):
        load_gpt2("gpt2", endpoint=loopback.endpoint)
    assert loopback.asked == []


def test_offline_what_was_fetched_is_still_there(loopback, monkeypatch):
    folder(NAME, endpoint=loopback.endpoint)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert difference(load_gpt2(NAME)) <= 1e-5


def test_a_hub_that_is_not_there_is_a_connection_error(loopback):
    nobody = loopback.endpoint
    loopback.close()
    asked = r"(?s)failed: .*refused.*\nWith a connection, call again.*for example './gpt2'"
    with pytest.raises(ConnectionError, match=asked):
        folder(NAME, endpoint=nobody)


def test_what_does_not_answer_as_a_hub_is_not_believed(loopback):
    plain = loopback.serve(lambda to: loopback.reply(to, 200, {"ETag": '"../../x"'}, b"<html>"))
    with pytest.raises(ConnectionError, match="does not answer as a hub does"):
        folder(NAME, endpoint=loopback.address(plain))
    plain.shutdown()
    plain.server_close()


# A folder.


def test_a_folder_is_taken_as_it_is_and_a_known_name_is_no_folder(tmp_path, monkeypatch):
    assert folder(TINY) == TINY
    assert folder(str(TINY)) == TINY
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gpt2").mkdir()
    with pytest.raises(FileNotFoundError, match=r"folder gpt2 holds no config.json and no model"):
        folder(Path("gpt2"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ConnectionError):
        folder("gpt2")


def test_a_path_that_is_no_folder_is_told_from_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("gpt2", "someone/some-gpt2"):
        with pytest.raises(
            FileNotFoundError, match=rf"no folder {name} here.* give text: '{name}'"
        ):
            folder(Path(name))
    (tmp_path / "model.safetensors").write_text("")
    for given in ("model.safetensors", tmp_path / "model.safetensors"):
        with pytest.raises(FileNotFoundError, match=r"is a file. Give the folder that holds it"):
            folder(given)


@pytest.mark.parametrize("name", [None, 5, b"gpt2"])
def test_what_is_neither_text_nor_a_path_is_refused(name, bare_calls):
    with pytest.raises(TypeError, match=r"by text or by the path of its folder; got "):
        load_gpt2(name)


def test_a_folder_of_something_else_is_answered_with_what_it_holds(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_text("")
    with pytest.raises(FileNotFoundError, match=r"no model.safetensors, but config.json, py"):
        folder(tmp_path)
