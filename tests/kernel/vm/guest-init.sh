#!/bin/bash
# First program of the guest. The kernel starts it on the host's own tree, read-only. It builds a writable view of
# that tree (lost at power-off), enters it, and hands over to systemd or to the command.
# Called again with the word "inside" once the view is entered.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
EXCHANGE=/run/vm
VIEW=/run/view

power_off() {
    sync
    echo o >/proc/sysrq-trigger
    sleep 60
}

# Whatever fails is said on the kernel log, and the host sees a guest that ended without a status.
must() {
    "$@" && return
    echo "guest init: cannot run: $*"
    power_off
}

mount_kernel_file_systems() {
    must mount -t proc proc /proc
    must mount -t sysfs sysfs /sys
    must mount -t devtmpfs dev /dev
    must ln -s /proc/self/fd /dev/fd
    must ln -s /proc/self/fd/0 /dev/stdin
    must ln -s /proc/self/fd/1 /dev/stdout
    must ln -s /proc/self/fd/2 /dev/stderr
    exec </dev/console >/dev/console 2>&1
    must mount -t tmpfs -o mode=755 tmpfs /run
    must mkdir -p $EXCHANGE $VIEW
    must mount -t virtiofs exchange $EXCHANGE
}

build_view() {
    must mkdir -p /run/writable/upper /run/writable/work /run/shown
    must mount -t overlay -o lowerdir=/,upperdir=/run/writable/upper,workdir=/run/writable/work view $VIEW
    show_before
    must mount -t tmpfs -o mode=1777 tmpfs $VIEW/tmp
    must mount -t tmpfs -o mode=755 tmpfs $VIEW/run
    must mkdir -p $VIEW$EXCHANGE
    must mount --move $EXCHANGE $VIEW$EXCHANGE
    must mount --move /dev $VIEW/dev
    must mkdir -p $VIEW/dev/pts $VIEW/dev/shm
    show_after
    local tree
    tree=$VIEW/lib/modules/$(uname -r)
    must mkdir -p "$tree"
    must mount --bind "$MODULE_TREE" "$tree"
    must mount --move /sys $VIEW/sys
    must mount --move /proc $VIEW/proc
}

# Paths below /tmp, /run and /dev disappear behind the guest's own mounts: hold on to those the command needs.
show_before() {
    local i
    for i in "${!SHOW_PATHS[@]}"; do
        must mkdir "/run/shown/$i"
        must mount --bind "$VIEW${SHOW_PATHS[i]}" "/run/shown/$i"
    done
}

show_after() {
    local i
    for i in "${!SHOW_PATHS[@]}"; do
        must mkdir -p "$VIEW${SHOW_PATHS[i]}"
        must mount --move "/run/shown/$i" "$VIEW${SHOW_PATHS[i]}"
    done
}

# The host's file server keeps a descriptor for each inode that this kernel remembers (counted twice here, in the
# view and below it). Where the host allows few, forget them before it runs out.
forget_inodes_in_time() {
    local count
    exec {never}<> <(:)
    while true; do
        read -r count _ </proc/sys/fs/inode-nr
        ((count < HOST_OPEN_FILES)) || echo 2 >/proc/sys/vm/drop_caches
        read -r -t 0.25 -u "$never"
    done
}

describe_machine() {
    echo fuyaod-vm >/etc/hostname
    echo fuyaod-vm >/proc/sys/kernel/hostname
    : >/etc/fstab
    # A fixed id and fresh marks: otherwise systemd takes this for the first boot of a new machine.
    echo f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0 >/etc/machine-id
    touch -d '2100-01-01' /etc/.updated /var/.updated
}

become_systemd() {
    local units=/run/systemd/system
    mkdir -p $units /run/tmpfiles.d
    # Nothing of this is needed here, and each costs emulated seconds.
    local unit
    for unit in modprobe@{configfs,dm_mod,drm,efi_pstore,fuse,loop}.service sys-kernel-{config,debug,tracing}.mount \
        dev-mqueue.mount kmod-static-nodes.service systemd-{binfmt,modules-load,pstore,random-seed}.service; do
        ln -s /dev/null "$units/$unit"
    done
    # Debian empties /tmp at boot through this file.
    : >/run/tmpfiles.d/tmp.conf
    # Not basic.target: the host's own sockets and timers stay out.
    cat >$units/fuyaod-vm.target <<UNIT
[Unit]
Description=Test machine
Requires=sysinit.target dbus.service fuyaod-vm-command.service
After=sysinit.target dbus.service
AllowIsolate=yes
UNIT
    # Type=exec: the boot job is done when the command has started, so the command can wait for the end of the boot.
    cat >$units/fuyaod-vm-command.service <<UNIT
[Unit]
Description=Command of the test machine
DefaultDependencies=no
After=sysinit.target dbus.service
[Service]
Type=exec
ExecStart=/bin/bash $EXCHANGE/in/init.sh command
Delegate=yes
TasksMax=infinity
UNIT
    exec /lib/systemd/systemd --unit=fuyaod-vm.target --show-status=no --log-target=kmsg --log-level=warning
}

mount_plain() {
    must mount -t cgroup2 -o nsdelegate,memory_recursiveprot cgroup2 /sys/fs/cgroup # as systemd does
    must mount -t devpts devpts /dev/pts
    must mount -t tmpfs -o mode=1777 tmpfs /dev/shm
    must ip link set lo up
}

# Both modes give the command the same start: every controller on below the root.
delegate_controllers() {
    local controller
    for controller in $(</sys/fs/cgroup/cgroup.controllers); do
        echo "+$controller" >/sys/fs/cgroup/cgroup.subtree_control
    done
}

run_command() {
    delegate_controllers
    /bin/bash $EXCHANGE/in/command.sh
    power_off
}

case $1 in
command)
    run_command
    ;;
inside)
    . $EXCHANGE/in/settings.sh
    umount -l /mnt
    describe_machine
    ((HOST_OPEN_FILES >= 200000)) || forget_inodes_in_time &
    [ "$INIT_MODE" = plain ] || become_systemd
    mount_plain
    run_command
    ;;
*)
    mount_kernel_file_systems
    . $EXCHANGE/in/settings.sh
    for module in "${LOAD_MODULES[@]}"; do
        must insmod "$module"
    done
    build_view
    # A real change of root, not chroot: container runtimes look at the root of the mount name space.
    cd $VIEW && must pivot_root . mnt
    exec chroot . /bin/bash $EXCHANGE/in/init.sh inside
    ;;
esac
