# Python 3.11+, make and git are all that a machine needs; see stack/setup_env.py.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 python3.14; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && exit; done; \
	for p in python3 python3.11; do command -v $$p >/dev/null && echo $$p && exit; done)
SETUP = $(if $(PYTHON),$(PYTHON) -m stack.setup_env,@echo "✗ there is no Python 3.11 or later" >&2; \
	echo "→ install it (Debian, Ubuntu: apt-get install python3 python3-venv; macOS: brew install python)" >&2; exit 1; :)
RUN = .venv/bin/python -m
HOST ?=
ARGS ?=
PARTS ?=

.DEFAULT_GOAL := help
.PHONY: help setup play web proto schemas settings metrics test test-rules chaos soak bench bench-quick trace model up down test-compose gallery lint format lock locks clean

help: ## what there is to make
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

setup: ## make .venv and install what is locked
	@$(SETUP) env

play: ## set up and start everything; HOST=0.0.0.0 opens it to your network
	@$(SETUP) play
	@exec .venv/bin/snatch play $(if $(HOST),--host $(HOST)) $(ARGS)

web: ## build the browser client into web/dist
	@$(SETUP) web

proto: setup ## generate the gRPC code into generated/
	@$(RUN) stack.protos

settings: setup ## write docs/settings.md
	@.venv/bin/snatch settings > docs/settings.md

metrics: setup ## write docs/metrics.md
	@.venv/bin/snatch metrics > docs/metrics.md

test: ## set up and run all tests: rules, services, contracts, end to end, browser
	@$(SETUP) test
	@$(RUN) stack.checks tests

test-rules: ## the rules alone, in seconds
	@$(SETUP) env
	@$(RUN) pytest games wire -q

model: setup ## a night of the ownership protocol, 100,000 simulated worlds; ARGS="--seeds N --planted all"
	@.venv/bin/snatch model --seeds 100000 $(ARGS)

chaos: setup ## every part killed, stopped and ended while 100 rooms play; under 15 min. ARGS="--json FILE"
	@.venv/bin/snatch chaos --own --matrix --strict $(ARGS)

soak: setup ## an hour of rooms that come and go, in 10 minutes: does anything grow? ARGS="--svg FILE"
	@.venv/bin/snatch soak $(ARGS)

bench: setup ## how fast it is, beside the peer, in some 25 minutes: docs/benchmarks.md; PARTS=path,watch only these
	@.venv/bin/snatch bench $(if $(PARTS),--parts $(PARTS)) $(ARGS)

bench-quick: setup ## the same in a few minutes, into test-results/bench
	@.venv/bin/snatch bench --plan quick $(if $(PARTS),--parts $(PARTS)) $(ARGS)

trace: ## frames and load of the client on a slow phone, in some five minutes: docs/client.md; ARGS="--screens phone"
	@$(SETUP) test
	@.venv/bin/snatch trace --page $(ARGS)

up: ## docker-compose.yml, built and healthy: http://127.0.0.1:8080; ARGS="--scale gateway=3"
	@deploy/need-compose.sh
	@deploy/make-secrets.sh
	@SNATCH_COMMIT=$$(git rev-parse HEAD 2>/dev/null || echo unknown) docker compose up --detach --build --wait $(ARGS)

down: ## end it; volumes stay
	@docker compose down $(ARGS)

test-compose: ## build and start docker-compose.yml, break and release it while people play, take it down; needs docker compose
	@deploy/need-compose.sh
	@$(SETUP) compose
	@SNATCH_TEST_COMPOSE=1 $(RUN) pytest tests/compose -q --timeout 600 $(ARGS)

gallery: ## pictures of every place on every screen, light and dark, into test-results/gallery; ARGS="--places table"
	@$(SETUP) test
	@$(RUN) tests.gallery.make $(ARGS)

lint: ## style, types, import walls, protos, the client; images, rules, dashboards, manifests
	@$(SETUP) lint
	@$(RUN) stack.checks lint

format: setup ## put the code in shape
	@$(RUN) ruff check --fix --quiet . ; $(RUN) ruff format .

lock: setup ## renew requirements.txt from pyproject.toml, and the checkers' lock
	@.venv/bin/uv pip compile -q pyproject.toml --all-extras --universal --generate-hashes --no-emit-index-url \
		--no-header --python-version 3.11 -o requirements.txt
	@.venv/bin/uv pip compile -q tools/checkers.in -c requirements.txt --universal --generate-hashes --no-emit-index-url \
		--no-header --python-version 3.11 -o tools/checkers.txt

locks: setup ## renew the images' locks, at the versions of requirements.txt
	@deploy/locks/make.sh

clean: ## remove what was built and installed (not .snatch, the tables' data)
	rm -rf .venv generated web/node_modules web/dist web/src/generated tools/node_modules benchmarks/peers/*/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
