import { execFile } from 'node:child_process'
import { chmod, chown, mkdtemp, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../postgres/embedded.ts'

const run = promisify(execFile)
const settings = { fsync: 'off', max_standby_streaming_delay: '0' }

/** A server with a streaming replica, each in a process of its own. */
export async function startReplicated() {
  const folder = await mkdtemp(join(process.env['NETLET_TEST_DIR'] ?? tmpdir(), 'netlet-replica-'))
  await chmod(folder, 0o755)
  const opened: EmbeddedPostgres[] = []
  const start = async (name: string, more: Record<string, string> = {}) => {
    const server = await startEmbeddedPostgres({
      dataDir: join(folder, name),
      settings: { ...settings, ...more },
      log: () => undefined
    })
    opened.push(server)
    return server
  }
  const stop = async () => {
    for (const server of opened.splice(0).toReversed()) await server.stop()
    for (const name of await readdir(folder)) await rm(await realpath(join(folder, name)), { recursive: true })
    await rm(folder, { recursive: true })
  }
  try {
    await (await start('primary')).stop()
    await run('cp', ['-a', await realpath(join(folder, 'primary')), join(folder, 'replica')])
    const data = join(folder, 'replica', 'data')
    const signal = join(data, 'standby.signal')
    await writeFile(signal, '')
    const { uid, gid } = await stat(data)
    await chown(signal, uid, gid)
    const primary = await start('primary')
    const { username, password, port } = new URL(primary.url)
    const replica = await start('replica', {
      primary_conninfo: `host=127.0.0.1 port=${port} user=${username} password=${password}`
    })
    return { primary: primary.url, replica: replica.url, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
