"""Experiments: which cells to run, and the table that comes of them."""
