"""What a run leaves: history, report, script, replay."""
