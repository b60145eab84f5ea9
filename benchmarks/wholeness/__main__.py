"""`python -m benchmarks.wholeness` measures the pages and writes the table into docs/wholeness.md."""

from benchmarks.wholeness.run import main

if __name__ == "__main__":
    main()
