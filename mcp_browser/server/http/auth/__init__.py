"""Who a request comes from, and whether it may come in."""
