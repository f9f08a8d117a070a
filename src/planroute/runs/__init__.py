"""Runs: cells of an experiment executed once, and the folder that holds what came of them."""
