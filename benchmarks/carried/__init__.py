"""Pages with what real sites carry: how long they take to open and to click, and whether all of them is reached."""
