"""Serves a GGUF over OpenAI's protocol; run by the Python of the environment that has xllamacpp.

    python serve_model.py MODEL.gguf PORT THREADS CONTEXT

It ends with its standard input.
"""

# pyright: basic, reportMissingImports=false
import os
import sys

import xllamacpp


def main() -> None:
    """Load the model and serve it until standard input ends."""
    path, port, threads, context = sys.argv[1], *map(int, sys.argv[2:5])
    os.nice(15)
    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.model_alias = ["qwen"]
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.warmup = False
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)  # noqa: T201 - what this command is for
    sys.stdin.read()


if __name__ == "__main__":
    main()
