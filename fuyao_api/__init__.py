"""Messages and services that the node agent and the cluster side share, generated from the `.proto` files beside this file."""
