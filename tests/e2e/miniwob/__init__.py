"""MiniWoB++ tasks played by policies that read only what the tools return."""
