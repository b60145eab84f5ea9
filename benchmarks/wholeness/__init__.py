"""What a person could operate, by Chromium's accessibility tree, beside what this server lists and finds."""
