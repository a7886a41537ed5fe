"""Messages and services that node agent and cluster side share, generated from the `.proto` files in this package."""
