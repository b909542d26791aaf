"""Published models: find them in a folder or on the hub, download them once, verify them."""

import errno
import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx2
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
from tqdm.auto import tqdm

SETTINGS, PARAMETERS = "config.json", "model.safetensors"
HASH = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
REPOSITORY = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")


class Published(NamedTuple):
    """The address of a model on the hub: its repository, and the commit that will not change."""

    repository: str
    commit: str = "main"
    sha256: str | None = None  # of the parameters, where we know it independently of the hub


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
    """Return the folder that holds a model's config.json and model.safetensors; download if needed.

    A name is one of PUBLISHED, a folder, or `owner/name` on the hub.
    What was downloaded once is found again without a connection.

    Source: the layout and the cache of the Hugging Face Hub.
    Taught in: chapter 12.
    Raises: FileNotFoundError if there is no such folder, model or file, ConnectionError if the
    hub cannot be reached, OSError if the disk is full, ValueError if what arrives is not what was
    published, TypeError for what is neither a string nor a path.
    """
    if not isinstance(name, str | Path):
        raise TypeError(f"A model's name must be a string or the path of its folder; got {name!r}.")
    if isinstance(name, str) and name in PUBLISHED:
        published = PUBLISHED[name]
    elif str(name) and Path(name).is_dir():
        return _complete(Path(name))
    elif isinstance(name, str) and REPOSITORY.fullmatch(name):
        published = Published(name)
    else:
        raise _unknown(name)
    settings = fetch(published, SETTINGS, endpoint=endpoint)
    # Both are of one commit, even if the model changes on the hub in between.
    published = published._replace(commit=settings.parent.name)
    return fetch(published, PARAMETERS, endpoint=endpoint).parent


def fetch(published: Published, file: str, *, endpoint: str | None = None) -> Path:
    """Return the path of one file in the hub's cache, after downloading it if it is not there.

    The hub's own client downloads. It resumes a transfer that breaks off within one call; a call
    that fails starts again from the beginning. The hash is compared once, when the file arrives.

    Source: Git and Git LFS for the two kinds of hash.
    Taught in: chapter 12.
    Raises: FileNotFoundError, ConnectionError, OSError and ValueError as `folder` does.
    """
    repository, commit, sha256 = published
    cached = try_to_load_from_cache(repository, file, revision=commit)
    if isinstance(cached, str):
        return Path(cached)
    with _explained(published, file):
        # Without an answer the download would ask for half a minute, so one question comes first.
        # No token is sent anywhere: what the course reads is public.
        url = hf_hub_url(repository, file, revision=commit, endpoint=endpoint)
        get_hf_file_metadata(url, token=False)
        path = Path(
            hf_hub_download(
                repository, file, revision=commit, endpoint=endpoint, token=False,
                tqdm_class=tqdm,  # the client's own bar hides from notebooks
            )
        )  # fmt: skip
    _verify(path, sha256 if sha256 and file == PARAMETERS else path.resolve().name)
    return path


def _verify(path: Path, expected: str) -> None:
    """Compare a file with its hash: the sha256 of a large file, Git's own of a small one."""
    if not HASH.fullmatch(expected):  # a cache without links keeps a file under its own name
        return
    with path.open("rb") as stream:
        if len(expected) == 64:
            actual = hashlib.file_digest(stream, "sha256").hexdigest()
        else:
            actual = hashlib.sha1(b"blob %d\0" % path.stat().st_size + stream.read()).hexdigest()
    if actual != expected:
        path.resolve().unlink()
        path.unlink(missing_ok=True)
        raise ValueError(
            f"{path.name} must have the hash {expected}; what arrived has {actual}, so it was "
            "damaged or is a different file. It was deleted: call again to download it, from an "
            "endpoint that you trust."
        )


@contextmanager
def _explained(published: Published, file: str) -> Iterator[None]:
    """Turn what can go wrong on the way to the hub into what to do about it."""
    repository = published.repository
    try:
        yield
    except RevisionNotFoundError as error:
        raise FileNotFoundError(
            f"The hub has {repository}, but not its commit {published.commit}. "
            "Is the endpoint a full copy of the hub?"
        ) from error
    except RemoteEntryNotFoundError as error:
        raise FileNotFoundError(
            f"{repository} has no file {file}. Save the model again with transformers' "
            f"save_pretrained, which writes its parameters as one {PARAMETERS}."
        ) from error
    except GatedRepoError as error:
        raise FileNotFoundError(
            f"{repository} requires you to accept its terms first. {_known()}"
        ) from error
    except RepositoryNotFoundError as error:
        raise FileNotFoundError(
            f"{repository} is neither a folder here nor a public model of the hub. {_known()}"
        ) from error
    except (httpx2.TransportError, OSError) as error:
        if getattr(error, "errno", None) == errno.ENOSPC:
            raise OSError(
                error.errno,
                f"The disk is full: {file} of {repository} was not downloaded. Free some space, "
                f"or set HF_HOME to a folder on a larger disk ({constants.HF_HUB_CACHE} now)",
            ) from error
        raise ConnectionError(
            f"{file} of {repository} is not on this machine, and {_reason(error)}\n"
            f"Without a connection, copy {SETTINGS} and {PARAMETERS} from another machine into a "
            "folder and pass its path, for example './gpt2': the bare name asks the hub."
        ) from error


def _reason(error: Exception) -> str:
    """Say why a download failed: the client hides the cause behind an error of its own."""
    cause = error.__cause__ or error
    if isinstance(cause, OfflineModeIsEnabled):
        return (
            "HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE forbids downloads. "
            "Unset them and start Python again to download it."
        )
    return (
        f"the download failed: {cause or type(cause).__name__}\nWith a connection, call again: "
        "a file that is complete is not downloaded twice."
    )


def _known() -> str:
    return f"Models with a short name: {', '.join(PUBLISHED)}."


def _unknown(name: str | Path) -> FileNotFoundError:
    """Make the error for what is neither a folder nor a name that a hub could know."""
    text = str(name)
    if text and Path(name).is_file():
        return FileNotFoundError(
            f"{name} is a file. Pass the folder that holds it, with {SETTINGS} and {PARAMETERS}."
        )
    if isinstance(name, Path) and (text in PUBLISHED or REPOSITORY.fullmatch(text)):
        return FileNotFoundError(
            f"There is no folder {text} here. A Path always means a folder; for the model of that "
            f"name on the hub pass a string: {text!r}."
        )
    return FileNotFoundError(
        f"{text!r} is neither a folder here nor the name of a model. Pass a folder with {SETTINGS} "
        f"and {PARAMETERS}, or owner/name on the hub. {_known()}"
    )


def _complete(place: Path) -> Path:
    """Check that a folder holds what is needed, and say what else it holds."""
    missing = [name for name in (SETTINGS, PARAMETERS) if not (place / name).is_file()]
    if missing:
        names = ", ".join(sorted(path.name for path in place.iterdir())[:8]) or "nothing"
        raise FileNotFoundError(
            f"The folder {place} must hold {' and '.join(missing)}; it holds {names}. "
            f"Pass a folder in which transformers' save_pretrained wrote one {PARAMETERS}, "
            "not split into parts and not the older pytorch_model.bin."
        )
    return place
