"""`python -m benchmarks.operations` carries out the operations; writes a table in docs/comparison.md."""

from benchmarks.operations.run import main

if __name__ == "__main__":
    main()
