# Everything here does its own set-up: Python 3.11 to 3.14 is all that must be there. `make` alone says what there is.

.DEFAULT_GOAL := help
.PHONY: findings help lab lab-first update test test-slow test-corpus test-cuda test-gpu check course site peers gpu-peers frameworks environment test-environment

# packages of another system (ROS, modules of a cluster) would come before the course's
unexport PYTHONPATH PYTHONHOME
# the tests start Python hundreds of times: without stored bytecode, every start compiles all that it imports
unexport PYTHONDONTWRITEBYTECODE

SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))
PYTHON_CHOSEN := $(if $(filter undefined,$(origin PYTHON)),,--python-chosen)
ifeq ($(origin PYTHON), undefined)
PYTHON := $(shell for name in python3.14 python3.13 python3.12 python3.11 python3 python; do \
	"$$name" -E -c '$(SUPPORTED)' 2>/dev/null && echo "$$name" && break; done)
endif
# cuda12 or cuda13 where there is an NVIDIA driver, nothing elsewhere; `make lab CUDA_EXTRA=` leaves CuPy out all the same.
# Nothing in continuous integration: its tests simulate, and cuda12 and the compilers below want different cuda-bindings.
ifeq ($(origin CUDA_EXTRA), undefined)
CUDA_EXTRA := $(if $(CI),,$(if $(PYTHON),$(shell "$(PYTHON)" -E rnncourse/lab/driver.py 2>/dev/null)))
endif
# Halide, NVIDIA's compilers, and one that runs kernels on the CPU: 1.1 GB on disk, for tests in continuous integration
ifeq ($(origin CI_EXTRA), undefined)
CI_EXTRA := $(if $(CI),$(if $(filter Linux-x86_64,$(shell uname -sm | tr ' ' -)),compile halide emulate teach cluster))
endif
CUDA_PART := $(CUDA_EXTRA:%=,%)
CI_PART := $(subst $() ,,$(CI_EXTRA:%=,%))

define USABLE_PYTHON
@test -n "$(PYTHON)" || { echo "There is no Python 3.11 to 3.14 on the PATH. \
	Install one, or say where it is: make lab PYTHON=/path/to/python3"; exit 1; }
@"$(PYTHON)" -E -c '$(SUPPORTED)' 2>/dev/null || { version=$$("$(PYTHON)" -E -V 2>/dev/null); \
	echo "PYTHON=$(PYTHON) is $${version:-no Python that starts}; the course needs Python 3.11 to 3.14"; exit 1; }
endef
# ends at once where the environment is complete, and says in a sentence why it cannot be made
SET_UP = @"$(PYTHON)" -E -m rnncourse.lab.environment $(PYTHON_CHOSEN)

environment:  # what a learner needs, and no more; without a network, an older one
	$(USABLE_PYTHON)
	$(SET_UP) --else-older .venv 'lab$(CUDA_PART)'

test-environment:
	$(USABLE_PYTHON)
	$(SET_UP) .venv 'lab,dev,scale,site$(CUDA_PART)$(CI_PART)'

lab: environment  ## open the course in JupyterLab, at lesson 00 (OPTIONS="--no-browser --port 8888" for a server)
	@.venv/bin/python -m rnncourse.cli lab $(OPTIONS)

lab-first:  ## the same with lessons 00 to 05 alone, on half the disk; `make lab` adds the others
	$(USABLE_PYTHON)
	$(SET_UP) --else-older .venv first
	@.venv/bin/python -m rnncourse.cli lab $(OPTIONS)

update:  ## bring the newest lessons; what you wrote in work/ is not touched
	$(USABLE_PYTHON)
	@"$(PYTHON)" -E -m rnncourse.lab.work

# Together these three run every test that needs no GPU; tests/test_conftest.py proves it. Three processes, because
# tests wait for processes, browsers and disks a good part of their time.
test: test-environment  ## run the quick tests, and a tenth of the long tables (OPTIONS="-k bptt" for some of them)
	@.venv/bin/python -m pytest -n 3 --dist worksteal --durations 10 $(OPTIONS)

test-slow: test-environment  ## run the slow ones: answers to kernels, browsers, emulated CUDA C++, time-outs
	@.venv/bin/python -m pytest -n 3 --dist worksteal --durations 10 --leg slow $(OPTIONS)

test-corpus: test-environment  ## run the long tables whole: attacks, styles of notebooks, variants, seeds
	@.venv/bin/python -m pytest -n 3 --dist worksteal --durations 10 --leg corpus $(OPTIONS)

# compilers and types beside numba-cuda, which takes the place of Numba's own CUDA target wherever it is installed:
# in an environment of its own; no GPU is needed
CUDA_TESTS := $(addprefix pocketgpu/test_,numba_cuda cuda compiling machine_code simulator_strict simulator_flops)
CUDA_TESTS += $(addprefix rnnlab/test_,persistent run_cuda)
test-cuda:  ## compile every kernel by numba-cuda, as on a GPU, but without one
	$(USABLE_PYTHON)
	$(SET_UP) .venv-cuda 'lab,dev,compile,cuda13'
	@.venv-cuda/bin/python -m pytest -n 2 --dist worksteal --durations 10 --leg all $(CUDA_TESTS:%=tests/%.py) $(OPTIONS)

test-gpu: test-environment  ## run the tests that need a GPU, each in its own process
	@.venv/bin/python -m pytest --gpu -n 4 -p no:benchmark $(OPTIONS)

check: test-environment  ## what a commit must pass: lint, format, derived files, style
	@.venv/bin/ruff check && .venv/bin/ruff format --check
	@.venv/bin/python -m rnncourse.build --check
	@.venv/bin/python -m pytest tests/test_style.py

# apart from .venv: the course needs none of them, and they may come to need other versions of what it needs
peers: environment  ## install PyTorch, PyTensor, JAX and Halide, for `rnnlab bench` to measure against (6 GB where PyTorch has no CPU build)
	$(SET_UP) .venv-peers 'peers,halide' $(OPTIONS)

frameworks:  ## compare networks with PyTorch, Keras, Flax, Equinox, Haiku, MLX and ONNX; writes docs/frameworks.md
	$(USABLE_PYTHON)
	$(SET_UP) .venv-frameworks frameworks
	@.venv-frameworks/bin/python -m bench.frameworks $(OPTIONS)

gpu-peers:  ## put PyTorch beside CuPy, for `rnnlab bench gpu` to measure against (gigabytes)
	$(USABLE_PYTHON)
	$(SET_UP) .venv 'lab,dev,gpu-peers$(CUDA_PART)$(CI_PART)' $(OPTIONS)

course: environment  ## build notebooks/, exercises/ and solutions/ from their sources
	@.venv/bin/python -m rnncourse.build

# in an environment of its own: JupyterLite's kernel would offer itself in the learner's JupyterLab too
site:  ## build the static site in build/site (OPTIONS="--repository https://github.com/NAME/rnnlab --tag v0.1.0")
	$(USABLE_PYTHON)
	$(SET_UP) .venv-site 'lab,site,lite'
	@.venv-site/bin/python -m pages $(OPTIONS)

findings:  ## run what surprised us about other programs, and say what has changed
	@status=0; for finding in findings/*.sh; do echo "$$finding"; \
		"$$finding" || { status=1; echo "$$finding: changed"; }; done; exit $$status

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*##/  make \1\t/p' Makefile
