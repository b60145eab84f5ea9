"""The same tasks from a shell, by the commands of this project and of others."""
