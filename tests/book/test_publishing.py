"""What stands around the course: sound workflows, addresses that agree, a version to cite."""

import re
import subprocess
import sysconfig
import tomllib
from pathlib import Path

import pytest
import yaml
from check_jsonschema.builtin_schemas import get_builtin_schema
from jsonschema.validators import validator_for

from book.build import release_notes
from tests.test_rules import FILES, TEXTS

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sysconfig.get_path("scripts"))  # on Windows, not where python.exe stands
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
REPOSITORY, HOMEPAGE = PROJECT["urls"]["Repository"], PROJECT["urls"]["Homepage"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf8"), re.MULTILINE))


def lint(folder: Path) -> subprocess.CompletedProcess:
    """What jactionlint, a fork of actionlint, and shellcheck say of a folder's workflows."""
    command = [BIN / "jactionlint", "--oneline", "--shellcheck", BIN / "shellcheck"]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


@pytest.fixture
def copied(tmp_path) -> Path:
    """The folder of the workflows in a repository of its own."""
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    for path in WORKFLOWS:
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def test_the_workflows_are_sound_and_so_are_their_copies(copied):
    for folder in (ROOT, copied):
        done = lint(folder)
        assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("publish.yml", "pages: write #", "pages: read #"),
        ("publish.yml", "needs: test", "needs: tests"),
        ("publish.yml", "include-hidden-files", "hidden-files"),
        ("publish.yml", "@fc324d3547104276b827a68afc52ff2a11cc49c9", "@v5"),
        ("links.yml", "17 4 * * 1", "17 4 * * 8"),
        ("links.yml", "steps.follow.outcome ==", "steps.followed.outcome =="),
        ("links.yml", '"$open"', "$open"),
        ("links.yml", "-n \"$open\"", "-n ${{ github.event.issue.title }}"),
        ("test.yml", "runs-on: ubuntu-24.04", "runs-on: ubuntu-24.05"),
        ("test.yml", "matrix.python }}", "matrix.pythons }}"),
    ],
)  # fmt: skip
def test_a_slip_in_a_workflow_is_found(copied, file, old, new):
    text = (copied / file).read_text("utf8")
    assert old in text
    (copied / file).write_text(text.replace(old, new), "utf8")
    assert lint(copied).returncode == 1


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_only_read_unless_a_job_says_why_and_each_job_ends(path):
    workflow = yaml.safe_load(path.read_text("utf8"))
    assert workflow["permissions"] == {"contents": "read"}
    assert "concurrency" in workflow
    most = 180 if path.stem == "nightly" else 60  # minutes
    for name, job in workflow["jobs"].items():
        assert job.get("timeout-minutes", 0) in range(1, most + 1) or "uses" in job, name
    for line in path.read_text("utf8").splitlines():
        assert ": write" not in line or "# to " in line, line


def test_a_workflow_makes_only_what_there_is_to_make():
    for path in WORKFLOWS:
        for target in re.findall(r"(?:run:|^ +) ?make ([a-z-]+)", path.read_text("utf8"), re.M):
            assert target in TARGETS, f"{path.name}: make {target}"


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("citation-file-format", "CITATION.cff"), ("dependabot", ".github/dependabot.yml"),
        ("github-issue-forms", ".github/ISSUE_TEMPLATE/error.yml"),
        ("github-issue-forms", ".github/ISSUE_TEMPLATE/mistake.yml"),
        ("github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"),
    ],
)  # fmt: skip
def test_a_file_that_others_read_has_the_form_that_they_expect(schema, file):
    form = get_builtin_schema(f"vendor.{schema}")
    valid = validator_for(form)(form)
    content = yaml.safe_load((ROOT / file).read_text("utf8"))
    assert [error.message for error in valid.iter_errors(content)] == []
    assert not valid.is_valid({**content, "nobody expects": "this"})


def test_the_citation_is_of_this_version_at_these_addresses():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf8"))
    assert str(citation["version"]) == PROJECT["version"]
    assert citation["repository-code"] == REPOSITORY
    assert citation["url"] == HOMEPAGE


def test_the_settings_of_the_book_name_the_same_addresses():
    settings = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))
    assert settings.get("repository", {}).get("url", REPOSITORY) == REPOSITORY
    config = settings["sphinx"]["config"]
    assert config.get("html_baseurl", HOMEPAGE) == HOMEPAGE


def strays(text: str) -> list[str]:
    """The addresses in a text that mean this course, by its name, and are not its own."""
    name = re.escape(REPOSITORY.rsplit("/", 1)[1])
    addresses = re.findall(
        rf"https?://github\.com/[\w-]+/{name}\b(?!-)|https?://[\w-]+\.github\.io/{name}\b(?!-)",
        text,
    )
    return [address for address in addresses if address not in (REPOSITORY, HOMEPAGE.rstrip("/"))]


def test_no_file_names_another_address_for_the_course():
    for path in FILES:
        if path.suffix in {*TEXTS, ".cff", ".ipynb", ".html"}:
            assert strays((ROOT / path).read_text("utf8")) == [], path
    for path in WORKFLOWS:
        text = path.read_text("utf8")
        assert REPOSITORY.split("/")[3] not in text, "a fork runs the same workflows"
    moved = REPOSITORY.replace(REPOSITORY.split("/")[3], "somebody")
    assert strays(f"see {moved}/issues and {REPOSITORY}/issues") == [moved]


CHANGES = """# Changes

## [1.2.3] - 2027-01-31

### Added

- Add a chapter.

## [1.2.2] - 2026-12-01

- Fix a page.
"""


def test_a_release_has_the_notes_of_its_version():
    notes = release_notes.notes("v1.2.3", "1.2.3", CHANGES)
    assert notes == "### Added\n\n- Add a chapter.\n"


@pytest.mark.parametrize(
    ("tag", "version", "changes", "error"),
    [
        ("v1.2.4", "1.2.3", CHANGES, "must be v1.2.3"),
        ("1.2.3", "1.2.3", CHANGES, "must be v1.2.3"),
        ("v1.2.4", "1.2.4", CHANGES, r"must begin with \[1.2.4\]; got \[1.2.3\]"),
        ("v1.2.3", "1.2.3", CHANGES.replace("[1.2.3] - 2027-01-31", "[Unreleased]"),
         r"must begin with \[1.2.3\]; got \[Unreleased\]"),
        ("v1.2.3", "1.2.3", CHANGES.replace(" - 2027-01-31", ""), "must date 1.2.3"),
        ("v1.2.3", "1.2.3", CHANGES.replace("2027-01-31", "soon"), "must date 1.2.3"),
        ("v1.2.3", "1.2.3", "# Changes\n", r"must begin with \[1.2.3\]; got no heading"),
    ],
)  # fmt: skip
def test_a_tag_that_is_not_the_version_releases_nothing(tag, version, changes, error):
    with pytest.raises(SystemExit, match=error):
        release_notes.notes(tag, version, changes)


def test_the_changelog_keeps_the_form_that_its_first_lines_promise():
    text = (ROOT / "CHANGELOG.md").read_text("utf8")
    assert release_notes.HEADING.search(text)[1] in ("Unreleased", PROJECT["version"])
    assert len(release_notes.HEADING.findall(text)) == len(re.findall("^## ", text, re.MULTILINE))
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall("^### (.+)$", text, re.MULTILINE)) <= kinds
