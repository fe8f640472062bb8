import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const TOKEN = 'soak-token-of-the-agent'
/** Reports the memory that a process holds after full collections. Processes without this probe ignore the signal. */
const PROBE = `
const { writeFileSync, renameSync } = require('node:fs')
require('node:v8').setFlagsFromString('--expose-gc')
const gc = require('node:vm').runInNewContext('gc')
process.on('SIGWINCH', () => {
  gc()
  // What is let go of because of it, some at a time, goes with the next.
  setTimeout(gc, 100)
  setTimeout(() => {
    gc()
    const { heapUsed, external, rss } = process.memoryUsage()
    const resources = {}
    for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1
    const path = process.env.SOAK_FOLDER + '/held-' + process.pid + '.json'
    writeFileSync(path + '.new', JSON.stringify({ bytes: heapUsed + external, rss, resources }))
    renameSync(path + '.new', path)
  }, 250)
})
`

/** What the processes of an agent hold. */
export type Held = { pids: number[]; handles: number; sockets: number; bytes: number; rss: number; resources: string }

export type Reply = { status: number; text: string }
export type Subject = {
  proxyPort: number
  /** A call of the management API, on a connection of its own. */
  call: (method: string, path: string, body?: unknown) => Promise<Reply>
  /** All processes, the managing one that serves first; and its workers. */
  pids: () => number[]
  workers: () => number[]
  /** Has it replaced by a new process of itself; resolves when that serves. */
  takeOver: () => Promise<void>
  handles: () => { handles: number; sockets: number; pids: number[] }
  held: () => Promise<Held>
  output: () => string
  /** Ends it as a service manager would; its status. */
  stop: () => Promise<number | null>
}

export async function until<T>(what: string, look: () => T | Promise<T>, ms: number): Promise<T> {
  const end = performance.now() + ms
  for (;;) {
    const value = await look()
    if (value) return value
    if (performance.now() > end) throw new Error(`waited in vain: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

function childrenOf(parent: number): number[] {
  const found: number[] = []
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      const [state, of] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (Number(of) === parent && state !== 'Z') found.push(Number(name))
    } catch {
      // It ended while we looked.
    }
  }
  return found
}

/** Processes with this variable in their environment. */
function processesWith(variable: string): number[] {
  return readdirSync('/proc').flatMap(name => {
    if (!/^\d+$/.test(name)) return []
    try {
      const isOne = readFileSync(`/proc/${name}/environ`, 'latin1').split('\0').includes(variable)
      return isOne ? [Number(name)] : []
    } catch {
      // It ended while we looked, or is somebody else's.
      return []
    }
  })
}

function handlesOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap(name => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${name}`)]
      } catch {
        return []
      }
    })
  } catch {
    return []
  }
}

function call(port: number, method: string, path: string, body?: unknown): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
    // No connection is kept: it would be a handle of the agent's.
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, reply => {
      let text = ''
      reply.setEncoding('utf8').on('data', chunk => (text += String(chunk)))
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text }))
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** Starts an agent with TLS and two workers on a folder. */
export async function startSubject(
  folder: string,
  sockets: 'handles' | 'streams',
  idleSeconds: number | undefined
): Promise<Subject> {
  const probe = join(folder, 'probe.cjs')
  await writeFile(probe, PROBE)
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  const certificate = ['req', '-x509', ...curve, '-nodes', '-days', '2', '-subj', '/CN=proxy.test']
  execFileSync('openssl', [...certificate, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
  const child: ChildProcess = spawn(process.execPath, [main], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      NODE_OPTIONS: `--require ${probe}`,
      NODE_COMPILE_CACHE: fileURLToPath(new URL('../../../node_modules/.cache/netlet-agent', import.meta.url)),
      SOAK_FOLDER: folder,
      DATA_DIR: folder,
      AGENT_PID_FILE: join(folder, 'agent.pid'),
      AGENT_TOKEN: TOKEN,
      AGENT_PORT: '0',
      PROXY_PORT: '0',
      PROXY_HOST: '0.0.0.0',
      PROXY_TLS_CERT: cert,
      PROXY_TLS_KEY: key,
      AGENT_ALLOW_DESTINATIONS: '127.0.0.0/8',
      AGENT_WORKERS: '2',
      AGENT_SOCKETS: sockets,
      ...(idleSeconds === undefined ? {} : { AGENT_IDLE_SECONDS: String(idleSeconds) })
    }
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', chunk => (output = (output + String(chunk)).slice(-20_000)))
  let status: number | null | undefined
  child.once('exit', code => (status = code))
  const ports = /Proxies listen on port (\d+), the management API on \S+:(\d+)\./
  const [, proxyPort, port] = await until(
    'the agent',
    () => ports.exec(output) ?? (status === undefined ? null : ['', '0', '0']),
    60_000
  ).then(found => found ?? [])
  if (!proxyPort || proxyPort === '0') throw new Error(`The agent did not start: ${output}`)
  // What takes over writes its number there.
  const root = (): number => Number(readFileSync(join(folder, 'agent.pid'), 'utf8'))
  const workers = (): number[] => childrenOf(root())
  const pids = (): number[] => [...new Set([root(), ...workers(), ...processesWith(`SOAK_FOLDER=${folder}`)])]
  const handles = (): ReturnType<Subject['handles']> => {
    const of = pids()
    const links = of.flatMap(handlesOf)
    return { pids: of, handles: links.length, sockets: links.filter(link => link.startsWith('socket:')).length }
  }
  const probed = async (pid: number): Promise<{ bytes: number; rss: number; resources: Record<string, number> }> => {
    const path = join(folder, `held-${pid}.json`)
    await rm(path, { force: true })
    process.kill(pid, 'SIGWINCH')
    const text = await until(
      `process ${pid} to tell what it holds`,
      () => readFile(path, 'utf8').catch(() => null),
      30_000
    )
    return JSON.parse(text ?? '{}') as { bytes: number; rss: number; resources: Record<string, number> }
  }
  return {
    proxyPort: Number(proxyPort),
    call: (method, path, body) => call(Number(port), method, path, body),
    pids,
    workers,
    takeOver: async () => {
      const before = root()
      process.kill(before, 'SIGHUP')
      await until('the takeover', () => root() !== before, 30_000)
    },
    handles,
    held: async () => {
      const counted = handles()
      const each = await Promise.all(counted.pids.map(probed))
      const sum = (of: 'bytes' | 'rss'): number => each.reduce((all, one) => all + one[of], 0)
      // Timers and what is under way come and go; sockets, servers and the like have to be the same.
      const kept = each.map(({ resources }) =>
        Object.entries(resources)
          .filter(([name]) => name.endsWith('Wrap') && !/Req|Write|Connect|Shutdown/.test(name))
          .map(([name, count]) => `${name} ${count}`)
          .toSorted()
          .join(', ')
      )
      return { ...counted, bytes: sum('bytes'), rss: sum('rss'), resources: kept.join('; ') }
    },
    output: () => output,
    stop: async () => {
      const isFirst = root() === child.pid
      signal(root(), 'SIGTERM')
      const rest = (): number[] => processesWith(`SOAK_FOLDER=${folder}`)
      const isOver = await until('the agent to stop', () => rest().length === 0, 20_000).catch(() => false)
      for (const pid of rest()) signal(pid, 'SIGKILL')
      // Of one that took over somebody else gets the status.
      return isFirst ? (status ?? null) : isOver ? 0 : null
    }
  }
}

function signal(pid: number, which: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, which)
  } catch {
    // It is gone already.
  }
}
