.PHONY: proto
proto: ## generate the gRPC code into generated/
	.venv/bin/python -m stack.protos
