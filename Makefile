# Everything one does with the checkout. `make` lists the targets; `make test` is what CI runs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.robomarl-setup
KERNEL := $(wildcard robomarl/core/filter/kernel/*.[ch]) robomarl/core/filter/kernel/build.py

# Without an accelerator, JAX is held at a version whose CPU backend does not deadlock.
GPU := $(shell command -v nvidia-smi)
EXTRAS ?= train,ros,dataset,dev,wheels,crazyflie,mavlink,ssl,logs,pettingzoo,jaxmarl,view,operate,site,hub,scale,certify$(if $(GPU),$(comma)cuda)
CONSTRAINTS := $(if $(GPU),,--constraint constraints-cpu.txt)
comma := ,

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore

# One dot a package is enough to see that it works. Errors come through; pip's warnings are about the machine.
DOTS := awk '/^ *Collecting |^ *Downloading /{printf "."; fflush()} /^Installing collected/{printf " installing"; fflush()} END{print ""}'

SHELL := /bin/bash
.SHELLFLAGS := -e -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup test check lint format bench demo site build clean

help: ## this list
	@sed -nE 's/^([a-z]+):.*## (.*)/\1\t\2/p' Makefile | awk -F '\t' '{printf "  make %-8s %s\n", $$1, $$2}'

setup: $(STAMP) ## create .venv, install robomarl into it (editable) with all that development needs

$(STAMP): pyproject.toml setup.py peers/pyproject.toml constraints-cpu.txt $(KERNEL)
	@.ci/opengl
	@.ci/sshd
	@.ci/chromium
	@test -x $(BIN)/pip || { echo "creating $(VENV) with $$($(PYTHON) --version)"; $(PYTHON) -m venv $(VENV); }
	@echo "installing robomarl[$(EXTRAS)] into $(VENV): some minutes the first time"
	@torch=$$(.ci/torch $(BIN)/python); \
	$(BIN)/python -m pip install $(CONSTRAINTS) --editable ".[$(EXTRAS)$$torch]" --editable ./peers 2> >(grep -v '^WARNING' >&2) | $(DOTS)
	@touch $@

# What only computes, and most of its time is XLA's compiler, which need not try hard for it, runs on two cores at once.
# What flashes waits most of the time, and does so beside it, three tests at once.
# Nodes, each test of which has a ROS domain of its own, and the rest run five at once, while pyright checks the types.
# What counts ticks has the machine alone.
COMPUTES := tests/core tests/lab tests/field tests/domains
FLASHES := tests/fleet
# XLA compiles in haste, and what several results share once: twice as fast where there are many small loops. Programs
# are kept from one time to the next, small ones too, which are most; `make clean` forgets them. With an accelerator JAX is
# newer, and aborts at the second option, which it does not know.
HASTE := --xla_backend_optimization_level=0 $(if $(GPU),,--xla_cpu_use_fusion_emitters=false) \
	--xla_backend_extra_options=xla_cpu_use_multi_output_fusion
XLA := XLA_FLAGS='$(HASTE)' TF_CPP_MIN_LOG_LEVEL=3 \
	JAX_COMPILATION_CACHE_DIR=$(CURDIR)/.pytest_cache/xla JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0
BY_DEFAULT := not slow and not gpu
OTHERS := $(COMPUTES) $(FLASHES)
# The shell lets what runs beside others ignore Ctrl-C, and so would each process that its tests start.
BESIDE := env --default-signal=INT
# A test that waits for ever fails, and says where it stood; where not even a signal wakes it, its process ends.
PYTEST := $(BIN)/python -m pytest --timeout 600 --timeout-method signal --max-worker-restart 0 \
	-o faulthandler_timeout=900 -o faulthandler_exit_on_timeout=true
# Files are begun in the order of tests/conftest.py, which puts those with long tests first.
TWO_CORES := --numprocesses 2 --dist loadfile --no-loadscope-reorder
THREE_AT_ONCE := --numprocesses 3 --dist loadfile --no-loadscope-reorder
FIVE_AT_ONCE := --numprocesses 5 --dist loadfile --no-loadscope-reorder
# A busy machine is late now and then: a test that fails is run again, one of real processes up to twice, and the summary
# names each test that needed it.
AGAIN := --reruns 1 --reruns-delay 1 -rR
TWICE := --reruns 2 --reruns-delay 5 -rR

# Many tests start Python: its modules are compiled once and not by each process, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

# One phase that fails does not hide what the others would say, and what failed in any of them is listed at the end.
test: export FAILURES := $(CURDIR)/$(VENV)/failures.txt
test: setup lint ## set-up, check, and all tests that are neither slow nor for an accelerator
	@status=0; : > $(FAILURES); \
	$(BESIDE) $(PYTEST) $(THREE_AT_ONCE) $(TWICE) $(FLASHES) -m '$(BY_DEFAULT)' > $(VENV)/fleet.log 2>&1 & fleet=$$!; \
	$(XLA) $(PYTEST) $(TWO_CORES) $(AGAIN) $(COMPUTES) || status=$$?; \
	wait $$fleet || status=$$?; cat $(VENV)/fleet.log; \
	$(BIN)/pyright > $(VENV)/types.log & types=$$!; \
	$(PYTEST) $(FIVE_AT_ONCE) $(TWICE) $(OTHERS:%=--ignore=%) -m '$(BY_DEFAULT) and not alone' || status=$$?; \
	wait $$types || { cat $(VENV)/types.log; status=1; }; \
	$(PYTEST) $(TWICE) tests/ros -m '$(BY_DEFAULT) and alone' || status=$$?; \
	sed 's/^/failed: /' $(FAILURES); \
	exit $$status

check: lint ## ruff and pyright
	@$(BIN)/pyright

lint: setup
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet . || { echo "make format would change files"; exit 1; }

format: setup ## let ruff format the code and mend what it can
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format --quiet .

bench: setup ## the benchmarks
	@$(BIN)/robomarl bench

demo: setup ## the main job on this machine, from training to the report
	@$(BIN)/robomarl demo

site: setup ## the documentation site, in site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "open site/index.html"

build: setup ## build the wheels, install one elsewhere with what a robot needs, and run it there
	@rm -rf build dist
	@echo "building the wheels, one for each processor"
	@$(BIN)/python -m robomarl.fleet.install.wheels dist
	@$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist ./peers
	@smoke=$$(mktemp -d); trap 'rm -rf "$$smoke"' EXIT; echo "installing it into $$smoke"; \
	$(PYTHON) -m venv "$$smoke/venv"; "$$smoke/venv/bin/pip" install -qq --require-hashes --requirement robomarl/fleet/install/onboard.txt; \
	"$$smoke/venv/bin/pip" install -qq --no-deps dist/robomarl-*_$$(uname -m).whl; \
	cd "$$smoke"; venv/bin/robomarl list > /dev/null; venv/bin/python -c 'import robomarl; print(robomarl.__version__, "runs outside the checkout")'
	@ls -1 dist/*.whl

clean: ## remove what builds and tests leave; .venv and runs/ stay
	@rm -rf build dist install log site *.egg-info peers/build peers/*.egg-info .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
