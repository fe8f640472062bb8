// Agents in their own processes that serve a user and can be replaced.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type AgentProcess, agentProcess, childrenOf, kill, processesOf } from './process.ts'
import { type Call, caller, type Json, lease, onEnd, randomNet, tempFolder, until } from './test-agent.ts'

export type Serving = {
  agent: AgentProcess
  call: Call
  folder: string
  net: string
  ip: string
  /** The data of view-server-info. */
  info: () => Promise<Json>
  /** Signals the serving process. Returns `info` when the takeover has succeeded or failed. */
  takeOver: () => Promise<Json>
  /** The id of the managing process that serves. */
  pid: () => Promise<number>
  /** The workers of the first process. */
  workers: () => Promise<number[]>
}

/** Starts an agent in its own processes, with user `u` on one address. */
export async function servingAgent(
  env: Record<string, string> = {},
  program?: string,
  within?: readonly string[]
): Promise<Serving> {
  const folder = env['DATA_DIR'] ?? (await tempFolder())
  onEnd(async () => (await processesOf(folder)).forEach(pid => kill(pid)))
  const pidFile = env['AGENT_PID_FILE'] ?? join(folder, 'agent.pid')
  const agent = await agentProcess(
    folder,
    { AGENT_DRAIN_SECONDS: '60', ...env, AGENT_PID_FILE: pidFile },
    program,
    within
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
  // By its file: programs that the agent runs for a moment look like a process of it.
  const pid = async (): Promise<number> => {
    const draining = [...((await info())['draining'] ?? [])].map(one => Number(one['pid']))
    return until('the number of one that serves', async () => {
      const serving = pidFile === '' ? agent.child.pid : Number(await readFile(pidFile, 'utf8'))
      return draining.includes(Number(serving)) ? null : serving
    })
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
  const workers = () => childrenOf(agent.child.pid ?? 0)
  return { agent, call, folder, net, ip, info, takeOver, pid, workers }
}

/** Repeats `work` and counts its results. */
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
