import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chooseAccount } from './infra/postgres/account.ts'
import { freePorts } from './testing/free-ports.ts'
import { startRelay } from './testing/relay.ts'

const deploy = (name: string) => readFileSync(new URL(`../../../deploy/patroni/${name}`, import.meta.url), 'utf8')
const PASSWORD = 'of-the-superuser'

/** A database machine: Patroni with its PostgreSQL, and its links to etcd, the other machine and HAProxy. */
export type Node = {
  /** Where the others reach its database and Patroni's API. */
  database: string
  api: string
  links: Awaited<ReturnType<typeof startRelay>>[]
  /** Sends a signal to Patroni and PostgreSQL. */
  signal(signal: NodeJS.Signals): Promise<void>
  start(): void
  isPrimary(): Promise<boolean>
}

/** Two database machines by deploy/patroni, with etcd and HAProxy, in folders and at ports of their own. */
export async function startPatroni() {
  const folder = mkdtempSync('/tmp/netlet-patroni-')
  chmodSync(folder, 0o755)
  const account = await chooseAccount(folder)
  const children = new Set<ChildProcess>()
  const nodes: Node[] = []
  const ownFolder = (name: string) => {
    const path = join(folder, name)
    mkdirSync(path, { mode: 0o700 })
    if (account) chownSync(path, account.uid, account.gid)
    return path
  }
  const run = (program: string, args: string[]): ChildProcess => {
    const child = spawn(program, args, {
      ...account,
      cwd: '/',
      stdio: 'ignore',
      env: { PATH: '/usr/sbin:/usr/bin:/bin' }
    })
    children.add(child)
    child.once('exit', () => children.delete(child))
    return child
  }
  const stop = async () => {
    const ended = [...children].map(child => once(child, 'exit'))
    for (const pid of await processesOf(folder)) kill(pid, 'SIGKILL')
    await Promise.all(ended)
    for (const { links } of nodes) for (const link of links) link.stop()
    rmSync(folder, { recursive: true, force: true })
  }

  try {
    const [etcd = 0, peers = 0, primary = 0, replica = 0, ...own] = await freePorts(8)
    const url = `http://127.0.0.1:${etcd}`
    run('etcd', [
      '--data-dir',
      ownFolder('etcd'),
      '--listen-client-urls',
      url,
      '--advertise-client-urls',
      url,
      '--listen-peer-urls',
      `http://127.0.0.1:${peers}`,
      '--initial-advertise-peer-urls',
      `http://127.0.0.1:${peers}`,
      '--initial-cluster',
      `default=http://127.0.0.1:${peers}`
    ])

    for (const name of ['one', 'two']) {
      const [database = 0, api = 0] = own.splice(0, 2)
      const links = await Promise.all([etcd, database, api].map(port => startRelay(`http://127.0.0.1:${port}`)))
      const [toEtcd = '', ofDatabase = '', ofApi = ''] = links.map(link => new URL(link.url).host)
      const file = join(folder, `${name}.yml`)
      // With `use_proxies`, because Patroni would ask etcd for its own address and go around the link.
      const yaml = deploy('patroni.yml')
        .replaceAll('name: NAME', `name: ${name}`)
        .replace('listen: ADDRESS:8008', `listen: 127.0.0.1:${api}`)
        .replace('listen: ADDRESS:5432', `listen: 127.0.0.1:${database}`)
        .replace('ADDRESS:8008', ofApi)
        .replace('ADDRESS:5432', ofDatabase)
        .replace(/hosts: \[.*\]/, `hosts: [${toEtcd}]\n  use_proxies: true`)
        .replaceAll('/var/lib/postgresql/15/netlet', join(ownFolder(`${name}-data`), 'data'))
        .replaceAll('/var/run/postgresql', folder)
        .replaceAll('SUPERUSER_PASSWORD', PASSWORD)
      writeFileSync(file, `${yaml}  pgpass: ${join(folder, `${name}-data`, 'pgpass')}\n`, { mode: 0o644 })
      nodes.push({
        database: ofDatabase,
        api: ofApi,
        links,
        start: () => void run('patroni', [file]),
        async signal(signal) {
          for (const path of [file, `${folder}/${name}-data/`])
            for (const pid of await processesOf(path)) kill(pid, signal)
        },
        isPrimary: () =>
          fetch(`http://${ofApi}/primary`, { signal: AbortSignal.timeout(2000) }).then(
            reply => reply.status === 200,
            () => false
          )
      })
    }
    chmodSync(folder, 0o777)
    for (const node of nodes) node.start()

    let line = 0
    writeFileSync(
      join(folder, 'haproxy.cfg'),
      deploy('haproxy.cfg')
        .replace('bind 127.0.0.1:5000', `bind 127.0.0.1:${primary}`)
        .replace('bind 127.0.0.1:5001', `bind 127.0.0.1:${replica}`)
        .replaceAll(/DATABASE_\d:5432 check port 8008/g, () => {
          const node = nodes[line++ % nodes.length]
          return `${node?.database} check addr 127.0.0.1 port ${node?.api.split(':').at(-1)}`
        })
    )
    run('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')])
    const through = (port: number) => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`
    return { primary: through(primary), replica: through(replica), nodes, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}

/** Processes whose command names the path, and all that they have started. */
async function processesOf(path: string): Promise<number[]> {
  const parents = new Map<number, number>()
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const read = (file: string) => readFile(`/proc/${name}/${file}`, 'utf8').catch(() => '')
    if ((await read('cmdline')).includes(path)) found.push(Number(name))
    const parent = /^\d+ \(.*\) \S (\d+)/.exec(await read('stat'))?.[1]
    if (parent) parents.set(Number(name), Number(parent))
  }
  for (const pid of found)
    for (const [child, parent] of parents) if (parent === pid && !found.includes(child)) found.push(child)
  return found
}

/** Has the primary a replica that may take over? Patroni says so later than PostgreSQL. */
export const isReady = async ({ nodes }: { nodes: Node[] }): Promise<boolean> => {
  const read = async ({ api }: Node) => {
    const reply = await fetch(`http://${api}/cluster`, { signal: AbortSignal.timeout(2000) })
    return ((await reply.json()) as { members: { role: string }[] }).members.map(({ role }) => role)
  }
  const roles = await Promise.all(nodes.map(node => read(node).catch((): string[] => [])))
  return roles.every(of => of.includes('leader') && of.includes('sync_standby'))
}
