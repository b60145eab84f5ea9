"""Chat models: providers, the client's own model, a scripted one. Heavy imports wait for their use."""
