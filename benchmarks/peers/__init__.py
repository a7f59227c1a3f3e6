"""Room frameworks that the benchmarks measure Snatch against, each in a folder of its own."""
