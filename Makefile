# Everything a person does here. On a bare machine `make serve` and `make test` need nothing but make and git:
# each installs, downloads and builds what is missing, says so, and does none of it twice.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.NOTPARALLEL:
.PHONY: build cuda serve test test-slow test-arm golden bench pictures bfcl matrix profile lint fuzz clean setup model dev

PORT ?= 11435
MODEL ?= models/SmolLM2-135M-Instruct.Q4_1.gguf
FUZZ_SECONDS ?= 60
SIMULATED_STEPS ?= 2000000

# $(call configure,PRESET): says nothing unless it fails; half a second when nothing changed.
configure = cmake --preset $(1) >/dev/null
pytest = TEMPO9_BIN=build/dev/apps/tempo9 TEMPO9_MODEL=$(MODEL) $(1)/bin/python -m pytest tests

build: setup                      ## the product: build/release/apps/tempo9
	@$(call configure,release)
	@cmake --build --preset release --target tempo9

cuda: setup                       ## the product for NVIDIA GPUs: build/cuda/apps/tempo9
	@scripts/get_cuda.sh
	@$(call configure,cuda)
	@cmake --build --preset cuda

serve: build model                ## serve the small model on PORT
	@scripts/serve.sh $(MODEL) $(PORT)

dev: setup model                  ## everything, with debug information, as the tests use it
	@$(call configure,dev)
	@cmake --build --preset dev

test: dev                         ## what must pass before a change lands
	@scripts/lint.sh format
	@ctest --test-dir build/dev --output-on-failure -L '^(fast|weights)$$'
	@scripts/node_env.sh build/node tests/js
	@$(call pytest,build/venv) -m 'not slow'

test-slow: dev test-arm           ## comparisons with large Python packages, long simulations, the kernels of Arm
	@scripts/python_env.sh build/venv-slow tests/requirements.txt $(wildcard tests/requirements-slow.txt)
	@scripts/node_env.sh build/agents tests/agents
	@scripts/setup.sh clang
	@TEMPO9_SOURCE_DIR=$(CURDIR) TEMPO9_NEEDS_CLANG=1 build/dev/src/backend/gpu_test --gtest_filter='GpuStrict*' --gtest_brief=1
	@ctest --test-dir build/dev --output-on-failure -L '^slow$$' --no-tests=ignore
	@$(call pytest,build/venv-slow) -m slow

ifeq ($(shell uname -m),aarch64)
test-arm:                         ## `make test` runs these tests here: this machine is one
else
test-arm:                         ## what computes, compiled for 64-bit Arm and run under emulation
	@scripts/setup.sh arm
	@$(call configure,aarch64)
	@cmake --build --preset aarch64
	@ctest --test-dir build/aarch64 --output-on-failure -L '^fast$$'
endif

golden: setup                     ## makes tests/golden again, for a new architecture
	@scripts/python_env.sh build/venv-slow tests/requirements.txt tests/requirements-slow.txt
	@build/venv-slow/bin/python tests/tools/make_golden.py

bench: build dev                  ## speed and accuracy beside llama.cpp, on this machine; millions of simulated steps
	@scripts/python_env.sh build/venv tests/requirements.txt
	@bench/peers/get_llama_cpp.sh
	@build/venv/bin/python bench/speed.py --model $(MODEL)
	@build/venv/bin/python bench/grid.py --short
	@build/venv/bin/python bench/accuracy.py --model $(MODEL)
	@build/venv/bin/python bench/formats.py --tiny --decoded --models $(MODEL)
	@TEMPO9_SIMULATED_STEPS=$(SIMULATED_STEPS) build/dev/src/engine/simulator_test --gtest_brief=1

pictures: setup                   ## of what the benches wrote, beside it
	@scripts/python_env.sh build/venv-bench bench/requirements.txt
	@build/venv-bench/bin/python bench/pictures.py bench/results/*/*.csv

profile: build model              ## docs/profile.md: where a step's time goes on this machine
	@scripts/python_env.sh build/venv tests/requirements.txt
	@scripts/get_gemma.sh
	@cmake --build --preset release --target ops_bench
	@build/venv/bin/python bench/step_profile.py models/*.gguf

bfcl: build model                 ## what MODEL gets of the function calling leaderboard's single-turn cases
	@bench/bfcl/get_bfcl.sh
	@build/bfcl/bin/python bench/bfcl/run.py --model $(MODEL)

matrix: build model               ## docs/models.md, by running the models under models/
	@scripts/get_gemma.sh
	@build/release/apps/tempo9 matrix --known tests/data/known_models.json models/*.gguf tests/data/tempo9-tiny/tempo9-tiny-*.gguf \
	  >build/models.md; status=$$?; \
	  mv build/models.md docs/models.md; exit $$status

lint:                             ## layout, clang-tidy on what changed (ALL=1: on everything), shell scripts
	@scripts/setup.sh lint
	@$(call configure,lint)
	@scripts/lint.sh all

fuzz:                             ## each fuzz target for FUZZ_SECONDS, under sanitizers
	@scripts/fuzz.sh $(FUZZ_SECONDS)

clean:                            ## what was built; the downloaded model stays
	rm -rf build

setup:
	@scripts/setup.sh
	@scripts/get_xgrammar.sh

model: setup
	@scripts/get_model.sh
