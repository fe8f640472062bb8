import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../../testing/free-ports.ts'

const run = promisify(execFile)

export const sshdPath = ['/usr/sbin/sshd', '/usr/local/sbin/sshd', '/opt/homebrew/sbin/sshd'].find(path =>
  existsSync(path)
)

export type TestSshd = {
  port: number
  username: string
  /** A private key that it accepts. */
  key: string
  /** A private key that it refuses. */
  strangeKey: string
  close(): Promise<void>
}

/**
 * A real OpenSSH server on loopback, with its own keys and settings in a temporary folder.
 * @param environment what each login finds in its environment
 */
export async function startSshd(environment: Record<string, string> = {}): Promise<TestSshd> {
  if (!sshdPath) throw new Error('sshd is not installed')
  const folder = await mkdtemp(join(tmpdir(), 'netlet-sshd-'))
  // The folder of sshd's privilege separation, which the distribution's start script normally creates.
  const madeRunFolder = process.getuid?.() === 0 && !existsSync('/run/sshd')
  if (madeRunFolder) await mkdir('/run/sshd', { mode: 0o755 })
  const makeKey = async (name: string) => {
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'test', '-f', join(folder, name)])
    return readFile(join(folder, name), 'utf8')
  }
  await makeKey('host')
  const key = await makeKey('user')
  const strangeKey = await makeKey('stranger')
  const port = await freePort()
  await writeFile(join(folder, 'authorized'), await readFile(join(folder, 'user.pub')))
  const settings = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    'ListenAddress 127.0.0.2',
    `HostKey ${join(folder, 'host')}`,
    `PidFile ${join(folder, 'pid')}`,
    `AuthorizedKeysFile ${join(folder, 'authorized')}`,
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitRootLogin yes',
    ...(Object.keys(environment).length > 0 ? [`SetEnv ${words(environment)}`] : []),
    'LogLevel ERROR'
  ]
  await writeFile(join(folder, 'config'), `${settings.join('\n')}\n`)
  const child = spawn(sshdPath, ['-D', '-e', '-f', join(folder, 'config')], { stdio: ['ignore', 'ignore', 'inherit'] })
  await accepts(port)
  return {
    port,
    username: userInfo().username,
    key,
    strangeKey,
    async close() {
      child.kill()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      await rm(folder, { recursive: true, force: true })
      if (madeRunFolder) await rmdir('/run/sshd').catch(() => {})
    }
  }
}

/** In sshd's format: one line, because only the first `SetEnv` counts. */
const words = (environment: Record<string, string>): string =>
  Object.entries(environment)
    .map(([name, value]) => `"${name}=${value}"`)
    .join(' ')

async function accepts(port: number): Promise<void> {
  for (const deadline = Date.now() + 30_000; ; await sleep(50)) {
    const socket = connect(port, '127.0.0.1')
    const opened = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false)
    ]).catch(() => false)
    socket.destroy()
    if (opened) return
    if (Date.now() > deadline) throw new Error('sshd does not listen')
  }
}
