import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A running proxy under test. */
export type Subject = {
  name: string
  pids: () => number[]
  /** MB of the serving process; with several, of one. */
  memory: () => number
  stop: () => Promise<void>
}
/** The agent also accepts changes. */
export type AgentSubject = Subject & {
  put: (path: string, body: unknown) => Promise<void>
  get: (path: string) => Promise<void>
}
export type Setup = {
  folder: string
  addresses: string[]
  port: number
  workers: number
  user: string
  password: string
}

const exited = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null ? Promise.resolve() : new Promise(resolve => child.once('exit', () => resolve()))

/** A process and its descendants. */
function processTree(pid: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
      children.set(parent, [...(children.get(parent) ?? []), Number(name)])
    } catch {
      // The process ended in the meantime.
    }
  }
  const found = [pid]
  for (let i = 0; i < found.length; i++) found.push(...(children.get(found[i] ?? 0) ?? []))
  return found
}

async function waitForPort(host: string, port: number): Promise<void> {
  const until = performance.now() + 20_000
  while (performance.now() < until) {
    const up = await new Promise<boolean>(resolve => {
      const socket = connect({ host, port }, () => {
        socket.destroy()
        resolve(true)
      })
      socket.on('error', () => resolve(false))
    })
    if (up) return
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new Error(`nothing listens on ${host}:${port}`)
}

/** Starts the agent and leases the addresses to one user. */
export async function startAgentSubject(
  setup: Setup,
  cpus: string,
  sockets: 'handles' | 'streams' = 'handles',
  /** `bare`: uses the folder's existing state and does not wait until it serves. */
  { bare = false } = {}
): Promise<AgentSubject> {
  const main = fileURLToPath(new URL('../../apps/agent/src/main.ts', import.meta.url))
  const token = 'bench-token-1234'
  const management = setup.port + 1
  const child = spawn('taskset', ['-c', cpus, process.execPath, main], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      DATA_DIR: setup.folder,
      AGENT_TOKEN: token,
      AGENT_PORT: String(management),
      PROXY_PORT: String(setup.port),
      AGENT_WORKERS: String(setup.workers),
      AGENT_SOCKETS: sockets,
      AGENT_ALLOW_DESTINATIONS: '127.0.0.0/8',
      AGENT_USER_CONNECTIONS: '20000',
      AGENT_ADDRESS_CONNECTIONS: '0',
      AGENT_CUSTOMER_CONNECTIONS: '0',
      AGENT_USER_RATE: '0',
      AGENT_ADDRESS_RATE: '0',
      AGENT_CLIENT_RATE: '0',
      LOG_LEVEL: 'warn'
    }
  })
  if (!bare) await waitForPort('127.0.0.1', management)
  const call = async (method: string, path: string, body?: unknown): Promise<void> => {
    const reply = await fetch(`http://127.0.0.1:${management}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await reply.text()
    if (!reply.ok) throw new Error(`${path}: ${text}`)
  }
  const put = (path: string, body: unknown): Promise<void> => call('PUT', path, body)
  if (!bare) {
    await put('/api/prefixes', { prefixes: ['127.0.0.0/8'] })
    await put(`/api/users/${setup.user}`, { password: setup.password, prefixes: setup.addresses, denied_domains: [] })
  }
  return {
    get: path => call('GET', path),
    memory: () =>
      Math.max(
        ...processTree(child.pid ?? 0)
          .slice(1)
          .map(pid => memoryMb([pid]))
      ),
    name: sockets === 'handles' ? 'agent' : 'agent on streams',
    put,
    pids: () => processTree(child.pid ?? 0),
    stop: async () => {
      child.kill('SIGTERM')
      await exited(child)
    }
  }
}

/** The paths of Debian's Squid and its password checker; null if not installed. */
export function findSquid(): { squid: string; auth: string } | null {
  const squid = ['/usr/sbin/squid', '/usr/local/sbin/squid'].find(existsSync)
  const auth = ['/usr/lib/squid/basic_ncsa_auth', '/usr/lib64/squid/basic_ncsa_auth'].find(existsSync)
  return squid === undefined || auth === undefined ? null : { squid, auth }
}

/**
 * Starts Squid for the same task: Basic auth, egress = ingress, no cache, an access log, no headers that reveal a
 * proxy.
 */
export async function startSquidSubject(
  setup: Setup,
  cpus: string,
  found: { squid: string; auth: string }
): Promise<Subject> {
  const at = (name: string): string => join(setup.folder, name)
  mkdirSync(setup.folder, { recursive: true })
  // Squid drops root for its own user, which must reach its files.
  chmodSync(setup.folder, 0o777)
  const hash = execFileSync('openssl', ['passwd', '-apr1', setup.password], { encoding: 'utf8' }).trim()
  writeFileSync(at('passwd'), `${setup.user}:${hash}\n`)
  const egress = setup.addresses.flatMap((address, n) => [
    `acl in${n} localip ${address}`,
    `tcp_outgoing_address ${address} in${n}`
  ])
  const lines = [
    `workers ${setup.workers}`,
    `http_port ${setup.port}`,
    `pid_filename ${at('squid.pid')}`,
    `cache_log ${at('cache.log')}`,
    `access_log stdio:${at('access.log')}`,
    'buffered_logs on',
    'cache deny all',
    'cache_mem 0',
    'memory_pools off',
    `coredump_dir ${setup.folder}`,
    'visible_hostname bench',
    'via off',
    'forwarded_for delete',
    'max_filedescriptors 20000',
    'shutdown_lifetime 0 seconds',
    'half_closed_clients off',
    `auth_param basic program ${found.auth} ${at('passwd')}`,
    'auth_param basic children 4',
    'auth_param basic credentialsttl 2 hours',
    'acl authenticated proxy_auth REQUIRED',
    'http_access allow authenticated',
    'http_access deny all',
    ...egress
  ]
  writeFileSync(at('squid.conf'), `${lines.join('\n')}\n`)
  const mode = setup.workers > 1 ? '--foreground' : '-N'
  const child = spawn('taskset', ['-c', cpus, found.squid, mode, '-f', at('squid.conf'), '-n', `bench${setup.port}`], {
    stdio: ['ignore', 'ignore', 'inherit']
  })
  await waitForPort('127.0.0.1', setup.port)
  return {
    name: 'squid',
    memory: () => memoryMb(processTree(child.pid ?? 0)),
    pids: () => processTree(child.pid ?? 0),
    stop: async () => {
      child.kill('SIGTERM')
      await exited(child)
    }
  }
}

/** CPU seconds used by the processes so far. */
export function cpuSeconds(pids: readonly number[]): number {
  let ticks = 0
  for (const pid of pids) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      ticks += Number(fields[11]) + Number(fields[12])
    } catch {
      // It ended in the meantime.
    }
  }
  return ticks / 100
}

/** Memory of the managing process and each worker in MB: current and peak. */
export function memoryOf({ pids }: Subject): Array<{ name: string; now: number; most: number }> {
  // `taskset` replaces itself with the program, so the pid is the program's.
  return pids().map((pid, n) => {
    const most = Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
    return { name: n === 0 ? 'managing process' : `worker ${n}`, now: memoryMb([pid]), most }
  })
}

/** Memory of processes in MB: proportional set size, so that shared pages count once. */
function memoryMb(pids: readonly number[]): number {
  let kb = 0
  for (const pid of pids) {
    try {
      kb += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0)
    } catch {
      // It ended in the meantime.
    }
  }
  return kb / 1024
}
