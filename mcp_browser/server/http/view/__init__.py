"""The live view as a page of the server: who gets in, its files, its socket."""
