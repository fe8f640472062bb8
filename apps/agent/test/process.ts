// Agents in processes of their own, for tests that kill them or look at how they start.
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { onEnd, token, until } from './test-agent.ts'

export const PRLIMIT = '/usr/bin/prlimit'
export const mainFile: string = fileURLToPath(new URL('../src/main.ts', import.meta.url))

export type AgentProcess = {
  child: ChildProcess
  port: number
  proxyPort: number
  output: () => string
  exited: Promise<number | null>
}

/**
 * Starts `main.ts`; resolves when it says that it listens, or with ports 0 when it ended before.
 * @param within the command, with its arguments, that runs it, as prlimit
 */
export async function agentProcess(
  folder: string,
  env: Record<string, string> = {},
  program: string = mainFile,
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
  await until('the agent to start', () => done || ports.test(output))
  const match = ports.exec(output)
  return { child, port: Number(match?.[2] ?? 0), proxyPort: Number(match?.[1] ?? 0), output: () => output, exited }
}
