# Everything here does its own set-up: Python 3.11 or newer is all that must be there. `make` alone says what there is.

.DEFAULT_GOAL := help
.PHONY: help lab test test-cuda test-gpu check course peers gpu-peers

SUPPORTED := import sys; sys.exit(sys.version_info < (3, 11))
ifeq ($(origin PYTHON), undefined)
PYTHON := $(shell for name in python3.14 python3.13 python3.12 python3.11 python3 python; do \
	"$$name" -c '$(SUPPORTED)' 2>/dev/null && echo "$$name" && break; done)
endif
# cuda12 or cuda13 where there is an NVIDIA driver, nothing elsewhere; `make lab CUDA_EXTRA=` leaves CuPy out all the same.
# Nothing in continuous integration: its tests simulate, and cuda12 and the compilers below want different cuda-bindings.
ifeq ($(origin CUDA_EXTRA), undefined)
CUDA_EXTRA := $(if $(CI),,$(if $(PYTHON),$(shell $(PYTHON) rnnlab/machine/driver.py)))
endif
# Halide, NVIDIA's compilers, and one that runs kernels on the CPU: 1.1 GB on disk, which a learner does without
ifeq ($(origin CI_EXTRA), undefined)
CI_EXTRA := $(if $(CI),$(if $(filter Linux-x86_64,$(shell uname -sm | tr ' ' -)),compile halide emulate))
endif
MORE := $(CUDA_EXTRA:%=,%)$(subst $() ,,$(CI_EXTRA:%=,%))
STAMP := .venv/installed$(CUDA_EXTRA:%=-%)$(subst $() ,,$(CI_EXTRA:%=-%))

lab: $(STAMP)  ## open the course in JupyterLab, at lesson 00 (OPTIONS="--no-browser --port 8888" for a server)
	@.venv/bin/rnnlab lab $(OPTIONS)

test: $(STAMP)  ## run every test (OPTIONS="-k bptt" for some of them)
	@.venv/bin/python -m pytest -n 2 --dist worksteal $(OPTIONS)

# compilers and types beside numba-cuda, which takes the place of Numba's own CUDA target; no GPU is needed
CUDA_TESTS := numba_cuda cuda compiling machine_code persistent simulator_strict simulator_flops run_cuda
test-cuda: .venv-cuda/installed  ## compile every kernel by numba-cuda, as on a GPU, but without one
	@.venv-cuda/bin/python -m pytest -n 2 --dist worksteal $(CUDA_TESTS:%=tests/test_%.py) $(OPTIONS)

test-gpu: $(STAMP)  ## run the tests that need a GPU, each in its own process
	@.venv/bin/python -m pytest --gpu -n 4 -p no:benchmark $(OPTIONS)

check: $(STAMP)  ## what a commit must pass: lint, format, derived files, style
	@.venv/bin/ruff check && .venv/bin/ruff format --check
	@.venv/bin/python -m rnnlab.course --check
	@.venv/bin/python -m pytest tests/test_style.py

peers: $(STAMP) .venv-peers/installed  ## install PyTorch, PyTensor, JAX and Halide, for `rnnlab bench` to measure against

gpu-peers: $(STAMP)  ## put PyTorch beside CuPy, for `rnnlab bench gpu` to measure against (gigabytes)
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable '.[lab,dev,gpu-peers$(MORE)]' $(OPTIONS)

course: $(STAMP)  ## build notebooks/, exercises/ and solutions/ from their sources
	@.venv/bin/python -m rnnlab.course

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*##/  make \1\t/p' Makefile

# apart from .venv: the course needs none of them, and they may come to need other versions of what it needs
.venv-peers/installed: pyproject.toml constraints.txt
	@echo "Setting up .venv-peers: once, a few minutes."
	@$(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable '.[peers,halide]' $(OPTIONS)
	@touch $@

# an environment of its own: numba-cuda takes the place of Numba's own CUDA target wherever it is installed
.venv-cuda/installed: pyproject.toml constraints.txt
	@echo "Setting up .venv-cuda: once, a few minutes."
	@$(PYTHON) -m venv .venv-cuda
	@.venv-cuda/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable '.[lab,dev,compile,cuda13]'
	@touch $@

$(STAMP): pyproject.toml constraints.txt
	@$(or $(PYTHON),false) -c '$(SUPPORTED)' || { echo "There is no Python 3.11 or newer on the PATH. \
	Install it, or say where it is: make lab PYTHON=/path/to/python3"; exit 1; }
	@echo "Setting up .venv with $(PYTHON)$(CUDA_EXTRA:%= and %): once, a few minutes."
	@$(PYTHON) -m venv .venv || { echo "$(PYTHON) cannot make a virtual environment. \
	On Debian and Ubuntu: sudo apt-get install python3-venv"; exit 1; }
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable '.[lab,dev$(MORE)]'
	@touch $@
