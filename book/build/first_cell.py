# @title On Colab, run this first: it installs the course. At home it does nothing.
import importlib.util
import subprocess
import sys

COURSE = "attention-course @ git+{repository}@main"

if importlib.util.find_spec("lib") is None:
    if "google.colab" not in sys.modules:
        raise ModuleNotFoundError(
            f"This Python, {sys.executable}, does not have the course. In the course's folder "
            "`make lab` opens JupyterLab with one that has it; in VS Code choose .venv/bin/python."
        )
    print("Installing the course, its small real model, and what else is missing: a minute or two.")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", COURSE]
    done = subprocess.run(pip, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(
            "The course could not be installed. Run this cell again, and if it fails again choose "
            f"Runtime, Disconnect and delete runtime. What pip said:\n{done.stderr[-2000:]}"
        )
    importlib.invalidate_caches()
    print("Done. Now run the cells below.")
if "google.colab" in sys.modules:
    from google.colab import output

    output.enable_custom_widget_manager()  # else Colab shows no figure that moves
