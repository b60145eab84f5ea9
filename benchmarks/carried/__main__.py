"""`python -m benchmarks.carried`."""

from benchmarks.carried.run import main

main()
