# Thin on purpose: what each command means lives in CMakePresets.json and scripts/.
#
#   make           build                       make check     the long form of CI
#   make run       build and run a GEMM        make format    clang-format over the tree
#   make test      build and run the tests     make tidy      clang-tidy over the tree
#   make bench     build and run benchmarks    make clean     remove build/
#   make python    install the Python package into build/python
#
# LONG=1 lets `make test` build and run what is labelled long too, and `make gpu` build it. EXCLUDE='a|b' leaves tests out by
# their labels.
# PRESET=debug and the like choose another preset of CMakePresets.json, JOBS=n the number of compilers at once.

PRESET ?= release
JOBS ?= $(shell nproc)
BUILD := build/$(PRESET)
export CMAKE_GENERATOR ?= Ninja
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(JOBS)

.PHONY: all run test environment python check bench build-bench gpu format tidy clean bootstrap configure

all: configure
	cmake --build $(BUILD)

run: configure
	@cmake --build $(BUILD) --target tools
	@$(BUILD)/bin/gantry gemm --m 512 --n 768 --k 256 --a bf16 --d bf16 --epilogue "d = gelu(acc + row(bias))"

# PyPI is asked while the compilers work.
test:
	@$(MAKE) --no-print-directory -j2 all environment
	$(if $(LONG),cmake --build $(BUILD) --target long_tests)
	ctest --preset $(PRESET) -j$(JOBS) --label-exclude '^($(EXCLUDE)$(if $(LONG),,|long))$$' $(CTEST_ARGS)

environment: bootstrap
	@scripts/python.sh environment

python: bootstrap
	scripts/python.sh install

check:
	.ci/run --long

build-bench: configure
	cmake --build $(BUILD) --target benchmarks

bench: build-bench
	cmake --build $(BUILD) --target run_benchmarks -j1

gpu: configure
	cmake --build $(BUILD) --target $(if $(LONG),gpu_long,gpu)

format:
	scripts/format.sh

tidy:
	scripts/tidy.sh

clean:
	rm -rf build

bootstrap:
	@scripts/bootstrap.sh

# Once configured, the build itself notices when a CMake file changes.
configure: bootstrap
	@test -f $(BUILD)/cmake_install.cmake || cmake --preset $(PRESET)
