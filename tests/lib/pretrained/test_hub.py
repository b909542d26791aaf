"""A model comes over a hub, whole or not at all: from a hub on this machine that misbehaves."""

import errno
import hashlib
import os
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
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 10_000)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    close_session()  # so that one is opened which knows of no proxy
    served = Hub()
    yield served
    served.close()
    close_session()


def leftovers(tmp_path: Path) -> list[Path]:
    """What unfinished downloads left in the cache."""
    return list((tmp_path / "cache").rglob("*.incomplete"))


# Downloaded.


def test_a_model_of_the_hub_is_fetched_once_and_then_asked_of_nobody(loopback, tmp_path):
    assert difference(load_gpt2(NAME, endpoint=loopback.endpoint)) <= 1e-5
    assert loopback.ranges_asked() == [None]
    assert ("HEAD", f"/{NAME}/resolve/{COMMIT}/model.safetensors", None) in loopback.asked
    loopback.asked.clear()
    place = folder(NAME, endpoint=loopback.endpoint)
    assert place.is_relative_to(tmp_path / "cache")
    assert {path.name for path in place.iterdir()} == set(BYTES)
    assert (place / "model.safetensors").read_bytes() == BYTES["model.safetensors"]
    assert loopback.asked == []
    assert leftovers(tmp_path) == []


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


# Interrupted.


def test_a_transfer_that_breaks_off_resumes_within_one_call(loopback):
    loopback.cut = 50_000
    place = folder(NAME, endpoint=loopback.endpoint)
    assert (place / "model.safetensors").read_bytes() == BYTES["model.safetensors"]
    assert loopback.ranges_asked() == [None, "bytes=50000-"]


def test_a_call_that_fails_leaves_nothing_and_the_next_one_starts_again(loopback, tmp_path):
    loopback.cut, loopback.down_after_cut = 50_000, True
    with pytest.raises(ConnectionError, match=r"(?s)503.*With a connection, call again"):
        folder(NAME, endpoint=loopback.endpoint)
    assert leftovers(tmp_path) == []
    loopback.asked.clear()
    loopback.down = False
    place = folder(NAME, endpoint=loopback.endpoint)
    assert (place / "model.safetensors").read_bytes() == BYTES["model.safetensors"]
    assert loopback.ranges_asked() == [None]


def test_a_full_disk_is_named_with_the_way_out(loopback, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("huggingface_hub.file_download.http_get", full)
    asked = r"disk is full: config.json of somebody/tiny-gpt2 .* HF_HOME .*larger disk"
    with pytest.raises(OSError, match=asked) as error:
        folder(NAME, endpoint=loopback.endpoint)
    assert error.value.errno == errno.ENOSPC
    assert not isinstance(error.value, ConnectionError)


def test_a_store_that_sends_the_whole_when_asked_for_the_rest_is_understood(loopback, tmp_path):
    loopback.cut, loopback.ranges = 50_000, False
    place = folder(NAME, endpoint=loopback.endpoint)
    assert (place / "model.safetensors").read_bytes() == BYTES["model.safetensors"]


# Damaged.


def test_what_has_a_different_hash_than_published_is_deleted(loopback):
    damaged = bytearray(BYTES["model.safetensors"])
    damaged[70_000] ^= 1
    loopback.files["model.safetensors"] = bytes(damaged)
    with pytest.raises(
        ValueError, match=rf"model.safetensors must have the hash {SHA256}; .*deleted"
    ):
        folder(NAME, endpoint=loopback.endpoint)
    loopback.files["model.safetensors"] = BYTES["model.safetensors"]
    place = folder(NAME, endpoint=loopback.endpoint)
    assert (place / "model.safetensors").read_bytes() == BYTES["model.safetensors"]


def test_a_damaged_config_is_noticed_by_gits_own_hash(loopback):
    loopback.files["config.json"] = BYTES["config.json"].replace(b"61", b"62")
    with pytest.raises(ValueError, match=f"config.json must have the hash {GIT}"):
        folder(NAME, endpoint=loopback.endpoint)


def test_the_hash_is_compared_when_a_file_arrives_and_not_at_each_load(loopback, monkeypatch):
    compared = []
    monkeypatch.setattr(hub, "_verify", lambda path, expected: compared.append(expected))
    for _ in range(2):
        folder(NAME, endpoint=loopback.endpoint)
    assert compared == [GIT, SHA256]


def test_other_weights_under_a_published_name_are_refused_and_deleted(loopback, monkeypatch):
    pinned = hub.PUBLISHED["gpt2"].sha256
    monkeypatch.setitem(hub.PUBLISHED, "gpt2", Published(NAME, COMMIT, pinned))
    for _ in range(2):  # nothing of it may be found in the cache by the second call
        with pytest.raises(ValueError, match=rf"{pinned}; what arrived has {SHA256}.*trust"):
            folder("gpt2", endpoint=loopback.endpoint)


# Not there.


def test_an_unknown_name_is_answered_with_the_known_ones(loopback):
    for name in ("gpt3", "gpt2/", "/gpt2", "./gpt2", "~/gpt2", "a/b/c", "", Path("nowhere")):
        with pytest.raises(FileNotFoundError, match=r"neither a folder .*config.json .*gpt2-xl"):
            folder(name, endpoint=loopback.endpoint)
    assert loopback.asked == []
    with pytest.raises(FileNotFoundError, match=r"^nobody/nothing is neither a folder here nor a"):
        folder("nobody/nothing", endpoint=loopback.endpoint)


def test_a_commit_or_a_file_that_the_hub_lacks_is_named(loopback):
    with pytest.raises(FileNotFoundError, match=rf"has {NAME}, but not its commit v7"):
        fetch(Published(NAME, "v7"), "config.json", endpoint=loopback.endpoint)
    del loopback.files["model.safetensors"]
    with pytest.raises(FileNotFoundError, match=f"{NAME} has no file model.safetensors. Save"):
        folder(NAME, endpoint=loopback.endpoint)


def test_offline_it_says_what_to_carry_over(loopback, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    asked = (
        r"config.json of openai-community/gpt2 is not on this machine, and HF_HUB_OFFLINE or .*"
        r"Unset them and start Python again.*\nWithout a connection, copy config.json and model.*"
        r"pass its path, for example './gpt2': the bare name asks the hub\."
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
    with pytest.raises(ConnectionError, match="not seem to be served by a Hugging Face Hub"):
        folder(NAME, endpoint=loopback.address(plain))
    plain.shutdown()
    plain.server_close()


# A folder.


def test_a_folder_is_taken_as_it_is_and_a_known_name_is_no_folder(tmp_path, monkeypatch):
    assert folder(TINY) == TINY
    assert folder(str(TINY)) == TINY
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gpt2").mkdir()
    with pytest.raises(FileNotFoundError, match=r"folder gpt2 must hold config.json and model"):
        folder(Path("gpt2"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ConnectionError):
        folder("gpt2")


def test_a_path_that_is_no_folder_is_told_from_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("gpt2", "someone/some-gpt2"):
        with pytest.raises(FileNotFoundError, match=rf"no folder {name} here.* a string: '{name}'"):
            folder(Path(name))
    (tmp_path / "model.safetensors").write_text("")
    for given in ("model.safetensors", tmp_path / "model.safetensors"):
        with pytest.raises(FileNotFoundError, match=r"is a file. Pass the folder that holds it"):
            folder(given)


@pytest.mark.parametrize("name", [None, 5, b"gpt2"])
def test_what_is_neither_text_nor_a_path_is_refused(name, bare_calls):
    with pytest.raises(TypeError, match=r"must be a string or the path of its folder; got "):
        load_gpt2(name)


def test_a_folder_of_something_else_is_answered_with_what_it_holds(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_text("")
    with pytest.raises(
        FileNotFoundError, match=r"must hold model.safetensors; it holds config.json, py"
    ):
        folder(tmp_path)
