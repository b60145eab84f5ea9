"""Whether a claim of success stands: what the record of a run says of it, before any model is asked."""
