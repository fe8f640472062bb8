import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

export type Program = {
  name: string
  /** Ends the program and waits; kills it after `patienceMs`. */
  stop(patienceMs?: number): Promise<void>
  runs(): boolean
  /** Resolves when the program ends for any reason. */
  ended: Promise<number | null>
}

type Started = Program & {
  /** Sends it a message, which arrives as an event of `process`. */
  tell(message: object): void
}

const PATIENCE_MS = 15_000

/** Starts one of our programs on this Node, with our output. */
export function startProgram(name: string, args: string[], env: Record<string, string>): Started {
  const child: ChildProcess = spawn(process.execPath, ['--import', './scripts/demo/exit-with-parent.ts', ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc']
  })
  const runs = () => child.exitCode === null && child.signalCode === null && child.pid !== undefined
  const ended = new Promise<number | null>(resolve => {
    child.once('exit', code => resolve(code))
    child.once('error', () => resolve(1))
  })
  return {
    name,
    ended,
    runs,
    tell(message) {
      // If the program has ended, `ended` says so.
      if (child.connected) child.send(message, () => {})
    },
    async stop(patienceMs = PATIENCE_MS) {
      if (!runs()) return
      child.kill('SIGTERM')
      const kill = setTimeout(() => child.kill('SIGKILL'), patienceMs)
      await ended
      clearTimeout(kill)
    }
  }
}

/** Waits until `url` answers with 200 or the program ends. */
export async function untilAnswers(url: string, program: Program, deadlineMs = 60_000): Promise<boolean> {
  const deadline = Date.now() + deadlineMs
  while (program.runs() && Date.now() < deadline) {
    const answered = await fetch(url, { signal: AbortSignal.timeout(2000) }).then(
      reply => reply.ok,
      () => false
    )
    if (answered) return true
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  return false
}
