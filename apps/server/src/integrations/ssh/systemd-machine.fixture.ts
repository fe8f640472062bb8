import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startTestMachine } from './machine.fixture.ts'

const run = promisify(execFile)

/** Tries the namespaces and mounts that the machine needs; containers often forbid them. */
const TRIAL = `
mount --make-rprivate / && mount -t tmpfs tmpfs /mnt && mkdir /mnt/root /mnt/upper /mnt/work &&
mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work overlay /mnt/root
`

/** It needs root, systemd, and another init process: two systemds would conflict over the control groups. */
export const canBootSystemd =
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  ['/lib/systemd/systemd', '/usr/bin/nsenter', '/usr/bin/unshare', '/sys/fs/cgroup'].every(path => existsSync(path)) &&
  !existsSync('/run/systemd/system') &&
  spawnSync('unshare', ['--mount', '--pid', '--cgroup', '--fork', 'sh', '-c', TRIAL]).status === 0

/** Enters a new control group in every hierarchy that allows it, and then new namespaces. */
const ENTER = `
for group in $(awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/self/mounts); do
  mkdir "$group/$2" 2> /dev/null && { echo $$ > "$group/$2/cgroup.procs" || rmdir "$group/$2"; } 2> /dev/null
done
exec unshare --mount --pid --uts --ipc --cgroup --fork --kill-child sh -ec "$1" boot "$3" "$4"
`

/**
 * Starts systemd over a copy-on-write view of this machine's files, which disappears with it. It shares this machine's
 * network, so that the console reaches the agent. Kernel settings are read-only there.
 */
const BOOT = `
folder=$1
mount --make-rprivate /
groups=$(awk '$3 == "cgroup" || $3 == "cgroup2" { print $3 ":" $2 }' /proc/self/mounts)
mount -t tmpfs tmpfs "$folder"
mkdir "$folder/root" "$folder/upper" "$folder/work"
mount -t overlay -o "lowerdir=/,upperdir=$folder/upper,workdir=$folder/work" overlay "$folder/root"
cd "$folder/root"
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty console; do touch dev/$device; done
for device in null zero full random urandom tty; do mount --bind /dev/$device dev/$device; done
mount --bind /dev/null dev/console
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
mount -t tmpfs tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
case "$groups" in
  cgroup2:/sys/fs/cgroup) mount -t cgroup2 cgroup2 sys/fs/cgroup ;;
  *)
    mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
    for group in $groups; do
      name=$(basename "$group")
      mkdir sys/fs/cgroup/$name
      case "$group" in
        cgroup2:*) mount -t cgroup2 cgroup2 sys/fs/cgroup/$name ;;
        */systemd) mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/$name ;;
        *) mount -t cgroup -o $name cgroup sys/fs/cgroup/$name || rmdir sys/fs/cgroup/$name ;;
      esac
    done ;;
esac
# Nothing starts but the journal and what is installed.
rm -rf etc/systemd/system etc/netlet-agent opt/netlet-agent var/lib/netlet-agent
mkdir -p etc/systemd/system/multi-user.target.wants opt/netlet-agent/bin
echo "[Unit]
Requires=systemd-journald.service
After=systemd-journald.service" > etc/systemd/system/machine.target
: > etc/fstab
# The runtime is large to send.
cp "$2" opt/netlet-agent/bin/node
mkdir former
pivot_root . former
cd /
umount -l former
rmdir former
exec env -i container=netlet PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --system --unit=machine.target --show-status=0 --log-target=journal
`

/** A machine that runs systemd, with an SSH server that accepts any login as root. Only if `canBootSystemd`. */
export async function startSystemdMachine() {
  const folder = await mkdtemp(join(tmpdir(), 'netlet-systemd-'))
  const group = basename(folder)
  const entering = spawn('sh', ['-c', ENTER, 'enter', BOOT, group, folder, process.execPath], {
    stdio: ['ignore', 'ignore', 'pipe']
  })
  let said = ''
  entering.stderr.on('data', (data: Buffer) => (said += data.toString()))
  const ended = once(entering, 'exit')
  const close = async (): Promise<void> => {
    // Ending its init process ends everything in the machine.
    entering.kill('SIGKILL')
    await ended
    await removeGroups(group)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const pid = await firstProcess(entering.pid ?? 0, () => entering.exitCode !== null)
    const inside = ['--target', String(pid), '--mount', '--pid', '--uts', '--ipc', '--cgroup', '--root', '--wd']
    /** @throws with its output if it fails */
    const shell = async (command: string): Promise<string> =>
      (await run('nsenter', [...inside, 'sh', '-c', command])).stdout
    // The first successful answer shows that systemd listens.
    for (const until = Date.now() + 60_000; ; await sleep(50)) {
      const state = await shell('systemctl is-active machine.target').catch(() => '')
      if (state.trim() === 'active') break
      if (entering.exitCode !== null || Date.now() > until) throw new Error(`systemd does not run: ${said}`)
    }
    const quoted = (command: string): string => `'${command.replaceAll("'", String.raw`'\''`)}'`
    const ssh = await startTestMachine({
      shell: true,
      replace: command =>
        `SSH_CONNECTION='127.0.0.1 50000 127.0.0.1 22' exec nsenter ${inside.join(' ')} sh -c ${quoted(command)}`
    })
    return {
      port: ssh.port,
      commands: ssh.commands,
      shell,
      close: async () => {
        ssh.close()
        await close()
      }
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** The machine's init process id on this machine: the child of `unshare`, once it is systemd. */
async function firstProcess(parent: number, hasEnded: () => boolean): Promise<number> {
  for (const until = Date.now() + 60_000; !hasEnded() && Date.now() < until; await sleep(20)) {
    const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8').catch(() => '')
    const [pid] = children.split(' ').map(Number)
    if (pid && (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')) === 'systemd\n') return pid
  }
  return 0
}

async function removeGroups(name: string): Promise<void> {
  const groups = readFileSync('/proc/self/mounts', 'utf8').matchAll(/^\S+ (\S+) cgroup2? /gm)
  const folders = [...groups].map(([, at]) => join(at ?? '', name)).filter(at => existsSync(at))
  // Ended processes leave their group a moment later.
  for (const at of folders) {
    const remove = () => run('find', [at, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';']).catch(() => {})
    for (const until = Date.now() + 10_000; existsSync(at) && Date.now() < until; await sleep(50)) await remove()
  }
}
