"""The gRPC node API over the last snapshot: `server` for the agent, `client` for the tool, `convert` between them."""
