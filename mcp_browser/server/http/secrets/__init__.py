"""One-time pages that ask a person for a secret."""
