"""Files of a session: downloads and what actions save."""
