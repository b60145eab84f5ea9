"""The agent behind run_task and browser-use's, with the same small model, on the same tasks."""
