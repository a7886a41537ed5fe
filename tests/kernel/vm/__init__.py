"""A virtual machine over this machine's own root file system, booted to run one command.

`spec` says what a machine looks like, `ground` where its kernel and emulator are kept, `setup` fetches them,
`qemu` turns a description into an emulator command line, and `runner` boots it and runs the command.
"""
