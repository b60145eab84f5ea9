"""Pages with what real sites carry: how long opening and clicking takes, and whether all of it is reached."""
