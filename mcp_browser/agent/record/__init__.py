"""What a run writes: history, report, script."""
