"""The cluster side: what routes, indexes and scales on the reports of the node agents.

Imports nothing of `fuyaod`; the two share the messages of `fuyao_api` only.
"""
