"""The live view as a page of the server: access, files, socket."""
