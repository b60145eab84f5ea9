"""`python -m benchmarks.tasks` does every task with this server and with playwright-mcp."""

from benchmarks.tasks.run import main

if __name__ == "__main__":
    main()
