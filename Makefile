# Two commands: `make run` looks at this machine, `make test` proves the code. `make help` lists the rest.
.DEFAULT_GOAL := help
.PHONY: help venv run check test test-unit test-kernel bench lock proto format clean

PY := .venv/bin/python
CONFIG ?=
KERNEL_ARGS ?=

help:  ## what can be made
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv:  ## .venv with the locked dependencies (every other target does it too)
	@sh tools/bootstrap.sh

run: venv  ## the agent on this machine, observing; Ctrl-C ends it
	@exec .venv/bin/fuyaod run $(if $(CONFIG),--config "$(CONFIG)")

check: venv  ## format, lint, types, import rules, spelling, dependencies, generated code
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports
	.venv/bin/codespell
	.venv/bin/deptry .
	$(PY) tools/proto.py --check

test: venv  ## all tests that this machine can run; what it cannot run is named
	@failed=; $(MAKE) test-unit || failed=1; $(MAKE) test-kernel || failed=1; [ -z "$$failed" ]

test-unit: venv  ## all tests but those on the VM's kernel
	$(PY) -m pytest -n 2 -rfEs

test-kernel: venv  ## the tests on a real kernel in a VM (root on Debian 12 amd64; installs QEMU)
	@$(PY) -m tests.kernel.run $(KERNEL_ARGS) || [ $$? = 77 ]  # 77: skipped, with the reason printed

bench: venv  ## the figures of README.md, about two minutes
	$(PY) -m bench.snapshot

lock: venv  ## resolve pyproject.toml anew into locks/
	.venv/bin/uv pip compile -q --universal --python-version 3.11 --no-header --no-annotate --generate-hashes pyproject.toml --upgrade -o locks/node.lock
	.venv/bin/uv pip compile -q --universal --python-version 3.11 --no-header --no-annotate --generate-hashes pyproject.toml --upgrade --all-extras -o locks/all.lock

proto: venv  ## generate fuyao_api/ from its .proto files
	$(PY) tools/proto.py

format: venv  ## format and fix what ruff can
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

clean:  ## take .venv and caches away
	rm -rf .venv .venv.old .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build
