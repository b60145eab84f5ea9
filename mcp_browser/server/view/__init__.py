"""What people see of browser sessions, and how they take them over, whatever brings it to them."""
