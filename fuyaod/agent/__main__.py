"""`python -I -m fuyaod.agent`: the same as `fuyaod`."""

from fuyaod.agent.cli import main

main(prog_name="fuyaod")
