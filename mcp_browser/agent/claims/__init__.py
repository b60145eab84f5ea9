"""What a run shows for its claim: evidence of each action, and the facts against the claim."""
