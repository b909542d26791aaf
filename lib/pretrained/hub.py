"""Models of others, in a folder or on a hub: found, fetched without asking twice, verified."""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx2
from filelock import FileLock
from huggingface_hub import (
    constants,
    get_hf_file_metadata,
    hf_hub_download,
    hf_hub_url,
    try_to_load_from_cache,
)
from huggingface_hub.errors import (
    GatedRepoError,
    OfflineModeIsEnabled,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.file_download import http_get, repo_folder_name
from tqdm.auto import tqdm

SETTINGS, PARAMETERS = "config.json", "model.safetensors"
HASH = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
REPOSITORY = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")


class Published(NamedTuple):
    """Where a model stands on the hub: its repository, and the commit that will not change."""

    repository: str
    commit: str = "main"
    sha256: str | None = None  # of the parameters, where it is known beyond the hub's own word


PUBLISHED = {
    "gpt2": Published(
        "openai-community/gpt2",
        "607a30d783dfa663caf39e06633721c8d4cfcd7e",
        "248dfc3911869ec493c76e65bf2fcf7f615828b0254c12b473182f0f81d3a707",
    ),
    "gpt2-medium": Published(
        "openai-community/gpt2-medium", "6dcaa7a952f72f9298047fd5137cd6e4f05f41da"
    ),
    "gpt2-large": Published(
        "openai-community/gpt2-large", "32b71b12589c2f8d625668d2335a01cac3249519"
    ),
    "gpt2-xl": Published("openai-community/gpt2-xl", "15ea56dee5df4983c59b2538573817e1667135e2"),
}


def folder(name: str | Path, *, endpoint: str | None = None) -> Path:
    """Find the folder that holds a model's config.json and model.safetensors, or fetch them.

    A name is one of PUBLISHED, a folder, or `owner/name` on the hub.
    What was fetched once is found again without asking anybody.

    Source: the layout and the cache of the Hugging Face Hub.
    Taught in: chapter 12.
    Raises: FileNotFoundError if there is no such folder, model or file, ConnectionError if the
    hub cannot be reached, ValueError if what came is not what was published, TypeError for what
    is neither text nor a path.
    """
    if not isinstance(name, str | Path):
        raise TypeError(f"A model is named by text or by the path of its folder; got {name!r}.")
    if isinstance(name, str) and name in PUBLISHED:
        published = PUBLISHED[name]
    elif str(name) and Path(name).is_dir():
        return _whole(Path(name))
    elif isinstance(name, str) and REPOSITORY.fullmatch(name):
        published = Published(name)
    else:
        raise _unknown(name)
    settings = fetch(published, SETTINGS, endpoint=endpoint)
    # Both are of one commit, even if the model changes on the hub in between.
    published = published._replace(commit=settings.parent.name)
    return fetch(published, PARAMETERS, endpoint=endpoint).parent


def fetch(published: Published, file: str, *, endpoint: str | None = None) -> Path:
    """Return the path of one file in the hub's cache, after fetching it if it is not there.

    What has come is kept when a transfer is cut, and the next call asks only for the rest.
    What is complete must have the hash under which the hub publishes it.

    Source: RFC 9110, section 14 (ranges); Git and Git LFS for the two kinds of hash.
    Taught in: chapter 12.
    Raises: FileNotFoundError, ConnectionError and ValueError as `folder` does.
    """
    repository, commit, sha256 = published
    expected = sha256 if file == PARAMETERS else None
    found = try_to_load_from_cache(repository, file, revision=commit)
    if isinstance(found, str):
        _verify(Path(found), expected or Path(found).resolve().name)
        return Path(found)
    # No token is sent anywhere: what the course reads is public.
    asked = {"revision": commit, "endpoint": endpoint}
    with _explained(published, file):
        url = hf_hub_url(repository, file, **asked)
        about = get_hf_file_metadata(url, endpoint=endpoint, token=False)
        if not (about.commit_hash and HASH.fullmatch(about.etag or "")):
            raise ConnectionError(f"{url} does not answer as a hub does")
        if expected and about.etag != expected:
            raise ValueError(
                f"The hub offers {file} of {repository} with the hash {about.etag}, but what was "
                f"published has {expected}. Do not use it. Is the endpoint one that you trust?"
            )
        _complete(_place(repository), about.etag, url, about.size, file)
        # The file lies where the hub's own client looks for it, which now only has to link it.
        return Path(hf_hub_download(repository, file, token=False, **asked))


def _place(repository: str) -> Path:
    """The folder in the hub's cache that keeps the files of one model."""
    return Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=repository, repo_type="model")


def _complete(place: Path, etag: str, url: str, size: int | None, shown: str) -> None:
    """Fetch what is missing of a file to where the hub's cache keeps it: under its hash.

    The hub's client resumes within one call, but throws away what it has when the call fails.
    """
    blob, partial = place / "blobs" / etag, place / "blobs" / f"{etag}.partial"
    lock = place.parent / ".locks" / place.name / f"{etag}.lock"  # the one that the client takes
    for path in (blob, lock):
        path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(lock):
        if blob.exists():
            return
        with partial.open("ab") as stream:
            if size is not None and stream.tell() > size:
                stream.truncate(0)
            http_get(
                url,
                stream,
                resume_size=partial.stat().st_size,
                expected_size=size,
                headers={"Accept-Encoding": "identity"},
                displayed_filename=shown,
                tqdm_class=tqdm,  # the client's own bar hides from notebooks
            )
        _verify(partial, etag)
        partial.rename(blob)


def _verify(path: Path, expected: str) -> None:
    """Compare a file with its hash: the sha256 of a large file, Git's own of a small one."""
    with path.open("rb") as stream:
        if len(expected) == 64:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        elif len(expected) == 40:
            found = hashlib.sha1(b"blob %d\0" % path.stat().st_size + stream.read()).hexdigest()
        else:  # a cache without links keeps a file under its own name
            return
    if found != expected:
        path.resolve().unlink()
        raise ValueError(
            f"{path} was damaged: its hash is {found}, expected {expected}. "
            "It was removed; call again to fetch it anew."
        )


@contextmanager
def _explained(published: Published, file: str) -> Iterator[None]:
    """Turn what can go wrong on the way to the hub into what to do about it."""
    try:
        yield
    except RevisionNotFoundError as error:
        raise FileNotFoundError(
            f"The hub has {published.repository}, but not its commit {published.commit}. "
            "Is the endpoint a full copy of the hub?"
        ) from error
    except RemoteEntryNotFoundError as error:
        raise FileNotFoundError(
            f"{published.repository} holds no {file}. A model that keeps its parameters otherwise "
            f"must be saved again by transformers' save_pretrained, as one {PARAMETERS}."
        ) from error
    except RepositoryNotFoundError as error:
        shut = "asks you to accept its terms first" if isinstance(error, GatedRepoError) else (
            "is neither a folder here nor a model that the hub shows you"
        )  # fmt: skip
        raise FileNotFoundError(
            f"{published.repository} {shut}. Known by name: {', '.join(PUBLISHED)}."
        ) from error
    except (httpx2.TransportError, OSError) as error:
        if isinstance(error, OfflineModeIsEnabled):
            why = (
                "HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE forbids to fetch it. "
                "Unset them and start Python anew to fetch it."
            )
        else:
            why = (
                f"fetching it failed: {error or type(error).__name__}\n"
                "With a connection, call again: it goes on where it was cut."
            )
        raise ConnectionError(
            f"{file} of {published.repository} is not on this machine, and {why}\n"
            f"Without a connection, copy {SETTINGS} and {PARAMETERS} from another machine into a "
            "folder and give its path, for example './gpt2': the bare name asks the hub."
        ) from error


def _unknown(name: str | Path) -> FileNotFoundError:
    """Make the error for what is neither a folder nor a name that a hub could know."""
    if str(name) and Path(name).is_file():
        return FileNotFoundError(
            f"{name} is a file. Give the folder that holds it, with {SETTINGS} and {PARAMETERS}."
        )
    text = str(name)
    if isinstance(name, Path) and (text in PUBLISHED or REPOSITORY.fullmatch(text)):
        return FileNotFoundError(
            f"There is no folder {text} here. A Path is always a folder; for the model of that "
            f"name on the hub give text: {text!r}."
        )
    return FileNotFoundError(
        f"{text!r} is no folder here and no model by name. Give a folder that holds {SETTINGS} "
        f"and {PARAMETERS}, owner/name on the hub, or one of: {', '.join(PUBLISHED)}."
    )


def _whole(place: Path) -> Path:
    """Check that a folder holds what is needed, and say what else it may be."""
    missing = [name for name in (SETTINGS, PARAMETERS) if not (place / name).is_file()]
    if missing:
        held = ", ".join(sorted(path.name for path in place.iterdir())[:8]) or "nothing"
        raise FileNotFoundError(
            f"The folder {place} holds no {' and no '.join(missing)}, but {held}. "
            f"Give the folder in which transformers' save_pretrained wrote one {PARAMETERS}, "
            "whole and not in parts, and not the older pytorch_model.bin."
        )
    return place
