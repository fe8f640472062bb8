// What tests of takeovers share.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type AgentProcess, agentProcess } from './process.ts'
import { type Call, caller, type Json, lease, onEnd, randomNet, tempFolder, until } from './test-agent.ts'

/** The numbers of all processes of the agents of a folder. */
export async function processesOf(folder: string): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const env = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '')
    if (env.split('\0').includes(`DATA_DIR=${folder}`)) found.push(Number(name))
  }
  return found
}

export const kill = (pid: number, signal: NodeJS.Signals = 'SIGKILL'): void => {
  try {
    process.kill(pid, signal)
  } catch {
    // It is gone already.
  }
}

/** Managing processes: those that are no workers. */
export async function managersOf(folder: string): Promise<number[]> {
  const managers: number[] = []
  for (const pid of await processesOf(folder)) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')
    if (line !== '' && !line.split('\0').includes('worker')) managers.push(pid)
  }
  return managers
}

export type Serving = {
  agent: AgentProcess
  call: Call
  folder: string
  net: string
  ip: string
  /** What view-server-info tells of the program. */
  info: () => Promise<Json>
  /** Signals the process that serves, and waits for what comes of it. */
  takeOver: () => Promise<Json>
  /** The number of the managing process that serves. */
  pid: () => Promise<number>
}

/** An agent in processes of its own, with a user 'u' on one address. */
export async function servingAgent(env: Record<string, string> = {}, program?: string): Promise<Serving> {
  const folder = env['DATA_DIR'] ?? (await tempFolder())
  onEnd(async () => (await processesOf(folder)).forEach(pid => kill(pid)))
  const agent = await agentProcess(
    folder,
    { AGENT_DRAIN_SECONDS: '60', AGENT_PID_FILE: join(folder, 'agent.pid'), ...env },
    program
  )
  if (agent.port === 0) throw new Error(agent.output())
  const call = caller(agent.port)
  const net = randomNet()
  const ip = `${net}.1.1`
  await call('PUT', '/api/prefixes', { prefixes: [`${net}.0.0/16`] })
  await lease(call, 'u', [`${ip}/32`])
  const info = async (): Promise<Json> =>
    until('the management', async () => {
      const reply = await call('GET', '/api/view-server-info').catch(() => null)
      return reply?.status === 200 ? reply.json['data'] : null
    })
  const pid = async (): Promise<number> => {
    const draining = [...((await info())['draining'] ?? [])].map(one => Number(one['pid']))
    return until('one that serves', async () => (await managersOf(folder)).find(one => !draining.includes(one)))
  }
  const takeOver = async (): Promise<Json> => {
    const before = await info()
    kill(await pid(), 'SIGHUP')
    return until(
      'the takeover to be over',
      async () => {
        const after = await info()
        const isNew = after['program_started_at'] !== before['program_started_at']
        const hasFailed =
          after['takeover']?.['state'] === 'failed' && after['takeover']['at'] !== before['takeover']?.['at']
        return isNew || hasFailed ? after : null
      },
      40_000
    )
  }
  return { agent, call, folder, net, ip, info, takeOver, pid }
}

/** Does something again and again, and counts what came of it. */
export function pump(work: () => Promise<string>): { seen: Record<string, number>; stop: () => Promise<void> } {
  const seen: Record<string, number> = {}
  const stopping = new AbortController()
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const came = await work().catch((error: unknown) => String(error))
      seen[came] = (seen[came] ?? 0) + 1
    }
  }
  const running = run()
  return {
    seen,
    stop: async () => {
      stopping.abort()
      await running
    }
  }
}
