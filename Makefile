# Everything from a fresh clone: each target first sets up what it needs, and is quick when it
# is there. `make` alone tells what there is.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# The steps of a target build on each other, also under `make -j`.
.NOTPARALLEL:

PYTHON ?= python3
ARGS ?=

VENV := .venv
RUN := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
PASSWORD := secrets/grafana-admin-password

# A server that is there already needs no vLLM here, and one for GPUs no build for CPUs.
NO_TINY_SERVER := $(or $(findstring --vllm-url,$(ARGS)),$(findstring --model,$(ARGS)))

.PHONY: help demo test up lint build setup vllm secrets clean bench-exporter fuzz soak

help: ## Show this list
	@echo 'usage: make TARGET [ARGS="..."] [PYTHON=python3.12]'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(INSTALLED) ## Play both alerts with a real vLLM (ARGS=--exit: stop at the end)
	@$(RUN) -m monitoring setup $(if $(NO_TINY_SERVER),--binaries)
	@$(RUN) -m monitoring demo $(ARGS)

up: $(INSTALLED) ## Run the chain (ARGS="--vllm-url http://host:8000" for your own server)
	@$(RUN) -m monitoring setup $(if $(NO_TINY_SERVER),--binaries)
	@$(RUN) -m monitoring up $(ARGS)

test: $(INSTALLED) ## Check and test everything, the live chain too (ARGS go to pytest)
	@$(RUN) -m monitoring setup --dev
	@$(MAKE) --no-print-directory lint
	@$(RUN) -m pytest $(ARGS)

lint: $(INSTALLED) ## Check style and types
	@$(RUN) -m ruff check
	@$(RUN) -m ruff format --check
	@$(RUN) -m mypy

build: $(INSTALLED) ## Write rules and dashboards anew from alerts/settings.yml
	@$(RUN) -m alerts build
	@$(RUN) -m dashboards build
	@$(RUN) -m monitoring.alertmanager.build

setup: $(INSTALLED) ## Get Python packages, programs of the chain, vLLM for CPUs
	@$(RUN) -m monitoring setup $(ARGS)

vllm: $(INSTALLED) ## Get only vLLM for CPUs (0.8 GB to download)
	@$(RUN) -m monitoring setup --vllm

bench-exporter: $(INSTALLED) ## Measure what a scrape of the exporter costs (ARGS="--scrapes 500")
	@$(RUN) -m tests.benchmarks.exporter $(ARGS)

fuzz: $(INSTALLED) ## Fuzz the exporter's parser and configuration, ten minutes each (FUZZ_SECONDS)
	@$(RUN) -c 'import atheris' 2>/dev/null || $(RUN) -m pip install --disable-pip-version-check --no-input -q -e '.[fuzz]' || \
		echo 'atheris cannot be installed here: plain mutations then' >&2
	@$(RUN) -m tests.fuzz $(ARGS)

soak: $(INSTALLED) ## An hour of the exporter beside a vLLM that fails and restarts (SOAK_SECONDS)
	@$(RUN) -m monitoring setup --vllm
	@$(RUN) -m tests.soak $(ARGS)

secrets: $(PASSWORD) ## Make Grafana's password for docker compose, once

clean: ## Stop the chain and remove all that was made here, except secrets
	@if test -x $(RUN) && test -d .run; then $(RUN) -m monitoring down || true; fi
	rm -rf $(VENV) .tools .run .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo '$(PYTHON) is missing or older than 3.11: install Python 3.11 or newer, and name it with make PYTHON=...' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo '$(PYTHON) cannot make virtual environments: install its venv package (Debian: apt install python3-venv)' >&2; exit 1; }
	@echo '… installing Python packages into $(VENV)'
	@$(PYTHON) -m venv $(VENV)
	@$(RUN) -m pip install --disable-pip-version-check --no-input -e '.[dev]' >$(VENV)/install.log 2>&1 || { \
		tail -n 12 $(VENV)/install.log >&2; echo 'pip failed; $(VENV)/install.log has it all' >&2; exit 1; }
	@touch $@

# The container's user is another than the file's owner, so the file is open and its folder shut.
$(PASSWORD): | $(INSTALLED)
	@mkdir -p -m 700 $(@D)
	@mkdir -p $(@D)/notification
	@$(RUN) -c 'import secrets; print(secrets.token_urlsafe(24), end="")' >$@
	@chmod 444 $@
	@echo 'Grafana: user admin, password in $@'
