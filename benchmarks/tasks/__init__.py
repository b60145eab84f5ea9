"""Whole tasks on real pages and applications: what everything that a server's tools return adds up to."""
