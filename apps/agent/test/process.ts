// Agents in their own processes, for tests that kill them or watch them start.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onEnd, token, until } from './test-agent.ts'

export const isLinux = process.platform === 'linux'
export const PRLIMIT = '/usr/bin/prlimit'
export const hasPrlimit: boolean = isLinux && existsSync(PRLIMIT)
/** The agent's program with the short intervals of tests. */
export const testProgram: string = fileURLToPath(new URL('program.ts', import.meta.url))

export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended already.
  }
}

/** Sets how many files a running process may open. */
export const limitHandles = (pid: number, count: number): void =>
  void execFileSync(PRLIMIT, ['--pid', String(pid), `--nofile=${count}:`])

/** The ids of all processes, each with the content of a file of /proc. */
async function allProcesses(file: 'stat' | 'environ'): Promise<Array<[number, string]>> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  return Promise.all(
    pids.map(async (pid): Promise<[number, string]> => [
      Number(pid),
      await readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '')
    ])
  )
}

export async function childrenOf(parent: number): Promise<number[]> {
  const all = await allProcesses('stat')
  return all.flatMap(([pid, stat]) =>
    Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent ? [pid] : []
  )
}

/** All processes of the agents that use a folder. */
export async function processesOf(folder: string): Promise<number[]> {
  const all = await allProcesses('environ')
  return all.flatMap(([pid, env]) => (env.split('\0').includes(`DATA_DIR=${folder}`) ? [pid] : []))
}

/** The managing processes of the agents that use a folder. Programs that an agent runs, such as systemd-notify, are none. */
export async function managersOf(folder: string): Promise<number[]> {
  const managers: number[] = []
  for (const pid of await processesOf(folder)) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')
    const [command = '', ...args] = line.split('\0')
    if (basename(command) === 'node' && !args.includes('worker')) managers.push(pid)
  }
  return managers
}

/** How long a start may take on a busy machine. */
const START_MS = 50_000

export type AgentProcess = {
  child: ChildProcess
  port: number
  proxyPort: number
  output: () => string
  exited: Promise<number | null>
}

/**
 * Starts an agent and waits until it listens. Both ports are 0 if it ends first.
 * @param within a command with arguments that runs it, such as prlimit
 */
export async function agentProcess(
  folder: string,
  env: Record<string, string> = {},
  program: string = testProgram,
  within: readonly string[] = []
): Promise<AgentProcess> {
  const [command, ...args] = [...within, process.execPath, program]
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      // Caches compiled modules, because these tests start many agents.
      NODE_COMPILE_CACHE: fileURLToPath(new URL('../../../node_modules/.cache/netlet-agent', import.meta.url)),
      DATA_DIR: folder,
      AGENT_TOKEN: token,
      AGENT_PORT: '0',
      PROXY_PORT: '0',
      PROXY_HOST: '0.0.0.0',
      AGENT_ALLOW_DESTINATIONS: '127.0.0.0/8',
      AGENT_SOCKETS: process.env['AGENT_SOCKETS'] ?? '',
      ...env
    }
  })
  let output = ''
  let done = false
  const collect = (chunk: Buffer): void => {
    output += chunk.toString()
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const exited = new Promise<number | null>(resolve =>
    // `exit`, not `close`: a process that took over may hold the output open.
    child.once('exit', code => {
      done = true
      resolve(code)
    })
  )
  onEnd(() => child.kill('SIGKILL'))
  const ports = /Proxies listen on port (\d+), the management API on \S+:(\d+)\./
  await until('the agent to start', () => done || ports.test(output), START_MS)
  const match = ports.exec(output)
  return { child, port: Number(match?.[2] ?? 0), proxyPort: Number(match?.[1] ?? 0), output: () => output, exited }
}
