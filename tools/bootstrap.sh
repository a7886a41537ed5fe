#!/bin/sh
# Makes .venv with the newest Python found and the locked dependencies. Repeating it is cheap.
#
#   tools/bootstrap.sh            everything (make venv)
#
# As root on Debian or Ubuntu a missing venv module is installed; otherwise the line to run is printed. An environment
# that cannot be finished (no network, Ctrl-C) leaves the one that was there.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }

# An activated .venv must not be taken for the Python to make it with.
PATH=$(printf '%s' "$PATH" | tr ':' '\n' | grep -vxF "$PWD/.venv/bin" | paste -sd: -)

runs() { # a pyenv shim may exist and still not run
    command -v "$1" >/dev/null 2>&1 && "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null
}

find_python() {
    for name in python3.14 python3.13 python3.12 python3.11 python3; do
        if runs "$name"; then
            "$name" -c 'import sys; print(sys.executable)'
            return
        fi
    done
    say "no Python 3.11, 3.12, 3.13 or 3.14 on PATH. On Debian 12: apt-get install python3 python3-venv." \
        "On Ubuntu 22.04: apt-get install python3.11 python3.11-venv"
    return 1
}

ensure_venv_module() {
    "$python" -c 'import ensurepip, venv' 2>/dev/null && return
    package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
        say "$python has no venv module. Run this, then try again:  sudo apt-get install -y $package"
        return 1
    fi
    say "installing $package"
    apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$package" >/dev/null
}

python=$(find_python)
# What an environment is made of; lint options and the like do not count.
wanted=$({ sed -n '/^\[project/,/^\[tool/p' pyproject.toml; cat locks/all.lock; } | cksum)" $python $PWD"
if [ -x .venv/bin/python ] && [ "$(cat .venv/.made-from 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi
ensure_venv_module

put_back() {
    if [ -d .venv.old ]; then
        rm -rf .venv
        mv .venv.old .venv
        say "not finished; the environment that was there is back"
    fi
}
rm -rf .venv.old
[ ! -d .venv ] || mv .venv .venv.old
trap put_back EXIT
trap 'exit 130' INT TERM HUP
say "making .venv with $python (downloads about 250 MB, one to three minutes)"
"$python" -m venv .venv
.venv/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r locks/all.lock
.venv/bin/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
printf '%s\n' "$wanted" >.venv/.made-from
rm -rf .venv.old
trap - EXIT
say "ready: $(.venv/bin/fuyaod --version)"
