"""`python -m benchmarks` times this server and its peers; see README.md."""

from benchmarks.speed import main

if __name__ == "__main__":
    main()
