# Two commands matter: `make serve` and `make test`. Both need Python 3.11+ and nothing else.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check
# As pip does for all but editable packages. Where Python may not write bytecode itself, each
# process would compile the service anew, a quarter of its start.
COMPILE := $(BIN)/python -m compileall -q service

.DEFAULT_GOAL := help
.PHONY: help serve test lint types unit browser operators audit docs reference clients train clean constraints

help:  ## Say what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

serve: $(VENV)/.serve  ## Install what serving needs and start the server on http://127.0.0.1:8000
	@$(BIN)/interlingua serve $(ARGS)

test: lint types docs audit unit  ## Install what testing needs; lint, types, docs and all tests

lint: $(VENV)/.dev  ## Style
	@echo '--> ruff'
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(VENV)/.dev  ## Types
	@echo '--> mypy --strict'
	@$(BIN)/mypy

unit: $(VENV)/.dev browser clients operators  ## Tests
	@$(COMPILE) training
	@echo '--> pytest'
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS)

browser: $(VENV)/.dev  ## Get the browser that the page is tested in, if one can be had
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	echo '--> looking for a Chromium'; \
	{ [ "$$(id -u)" = 0 ] && command -v apt-get && apt-get -qq update && \
	    apt-get -qq install -y --no-install-recommends chromium; } >/dev/null 2>&1 || \
	timeout 300 $(BIN)/playwright install --only-shell chromium >/dev/null 2>&1 || \
	echo 'None could be had: the tests of the page will be skipped.'

operators:  ## Get Prometheus and HAProxy, which test what is deployed, if they can be had
	@command -v prometheus >/dev/null && command -v promtool >/dev/null && command -v haproxy >/dev/null || { \
	echo '--> looking for Prometheus and HAProxy'; \
	{ [ "$$(id -u)" = 0 ] && command -v apt-get && apt-get -qq update && \
	    apt-get -qq install -y --no-install-recommends prometheus haproxy; } >/dev/null 2>&1 || \
	echo 'They cannot be had: their tests will be skipped.'; }

audit: $(VENV)/.dev  ## Ask whether what serving installs has known weaknesses; licences are a test
	@echo '--> pip-audit'
	@{ test -x .venv-audit/bin/pip-audit || { $(BIN)/python -m venv .venv-audit && \
	    timeout 60 .venv-audit/bin/python -m pip install -q --disable-pip-version-check pip-audit; }; } \
	    >/dev/null 2>&1 || { echo 'It cannot be had: skipped.'; exit 0; }; \
	$(BIN)/interlingua sbom --licences | awk '$$1 != "interlingua" {print $$1 "==" $$2}' > .venv-audit/what.txt; \
	said=$$(timeout 60 .venv-audit/bin/pip-audit --no-deps --disable-pip -r .venv-audit/what.txt 2>&1); code=$$?; \
	case "$$code:$$said" in \
	    0:*could*not*be*audited*) echo "This index knows no weaknesses: skipped." ;; \
	    0:*) echo "$$said" ;; \
	    *[Ff]ound*known*vulnerab*) echo "$$said"; exit 1 ;; \
	    *) echo "The database of weaknesses cannot be asked: skipped. $$(echo "$$said" | tail -1 | cut -c1-200)" ;; \
	esac

docs: $(VENV)/.dev  ## Build the documentation into site/; a broken link fails
	@echo '--> mkdocs --strict'
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

reference: $(VENV)/.dev  ## Write the pages of docs/reference anew, from the code
	@$(BIN)/python -m service.reference docs/reference

clients: .venv-clients/.installed  ## Install the packages that the server is tested through
.venv-clients/.installed: constraints/clients.txt | $(VENV)/.dev
	@echo '--> installing client packages in .venv-clients (about 400 MB)'
	@{ $(PIP) -q uv && $(BIN)/uv venv -q --clear --python $(BIN)/python .venv-clients && \
	    $(BIN)/uv pip install -q --python .venv-clients/bin/python -r constraints/clients.txt && \
	    touch $@; } || { rm -rf .venv-clients; echo 'They cannot be had: their tests will be skipped.'; }

train: $(VENV)/.dev  ## Train interlingua-fast from raw files: make train DATA=DIR
	@$(BIN)/interlingua train fast --scale small --data "$(DATA)"

constraints: $(VENV)/bin/python  ## Resolve the pinned versions anew
	@$(PIP) uv
	@$(BIN)/uv pip compile -q --upgrade --universal --python-version 3.11 --no-header --no-annotate \
	    --no-emit-index-url --extra cpu --extra openvino --extra otel --extra train --extra dev --extra docs pyproject.toml \
	    -c constraints/pins.txt -o constraints/cpu.txt
	@$(BIN)/uv pip compile -q --upgrade --universal --python-version 3.11 --no-header --no-annotate \
	    --no-emit-index-url constraints/clients.in -o constraints/clients.txt
	@$(BIN)/uv pip compile -q --upgrade --universal --python-version 3.11 --no-header --no-annotate \
	    --no-emit-index-url --extra gpu pyproject.toml -o constraints/gpu.txt

clean:  ## Remove the environment and caches
	@rm -rf $(VENV) .venv-clients .venv-audit .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { \
	    echo 'Python is missing: install Python 3.11 or later, or say make PYTHON=/path/to/python3.'; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if v >= (3, 11) else \
	    f"Python {v.major}.{v.minor} is too old: 3.11 or later is needed (make PYTHON=python3.12 ...).")'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "Python's venv module is missing: on Debian and Ubuntu install python3-venv."; exit 1; }
	@echo '--> creating the environment in $(VENV)'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.serve: pyproject.toml constraints/cpu.txt | $(VENV)/bin/python
	@echo '--> installing the server (about 500 MB, half a minute)'
	@$(PIP) -c constraints/cpu.txt -e '.[cpu,openvino]'
	@$(COMPILE)
	@touch $@

$(VENV)/.dev: pyproject.toml constraints/cpu.txt | $(VENV)/bin/python
	@echo '--> installing what tests and training need (about 1.6 GB, two minutes)'
	@$(PIP) -c constraints/cpu.txt -e '.[cpu,train,dev,docs]'
	@touch $@ $(VENV)/.serve
