// Agents in processes of their own, for tests that kill them or look at how they start.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { onEnd, token, until } from './test-agent.ts'

export const isLinux = process.platform === 'linux'
export const PRLIMIT = '/usr/bin/prlimit'
export const hasPrlimit: boolean = isLinux && existsSync(PRLIMIT)
/** The agent with the times of tests. */
export const testProgram: string = fileURLToPath(new URL('program.ts', import.meta.url))

export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It is gone already.
  }
}

/** @param count of open files that a process may have from now on */
export const limitHandles = (pid: number, count: number): void =>
  void execFileSync(PRLIMIT, ['--pid', String(pid), `--nofile=${count}:`])

/** The numbers of all processes, each with what a file below /proc says of it. */
async function allProcesses(file: 'stat' | 'environ'): Promise<Array<[number, string]>> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  return Promise.all(
    pids.map(async (pid): Promise<[number, string]> => [
      Number(pid),
      await readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '')
    ])
  )
}

/** The children of a process. */
export async function childrenOf(parent: number): Promise<number[]> {
  const all = await allProcesses('stat')
  return all.flatMap(([pid, stat]) =>
    Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent ? [pid] : []
  )
}

/** All processes of the agents of a folder. */
export async function processesOf(folder: string): Promise<number[]> {
  const all = await allProcesses('environ')
  return all.flatMap(([pid, env]) => (env.split('\0').includes(`DATA_DIR=${folder}`) ? [pid] : []))
}

/** Those of them that are no workers. */
export async function managersOf(folder: string): Promise<number[]> {
  const managers: number[] = []
  for (const pid of await processesOf(folder)) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')
    if (line !== '' && !line.split('\0').includes('worker')) managers.push(pid)
  }
  return managers
}

/** What a start may take where others have the processors. */
const START_MS = 50_000

export type AgentProcess = {
  child: ChildProcess
  port: number
  proxyPort: number
  output: () => string
  exited: Promise<number | null>
}

/**
 * Starts an agent; resolves when it says that it listens, or with ports 0 when it ended before.
 * @param within the command, with its arguments, that runs it, as prlimit
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
      // Compiled modules are kept between the many starts of these tests.
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
    // Whatever has been handed over may hold the output open.
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
