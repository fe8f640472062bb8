import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

export type Program = {
  name: string
  /** Asks the program to end and waits for it; it is killed where it does not end within `patienceMs`. */
  stop(patienceMs?: number): Promise<void>
  runs(): boolean
  /** Settles when the program ends, wanted or not. */
  ended: Promise<number | null>
}

type Started = Program & {
  /** Sends it a message, which it has as an event of `process`. */
  tell(message: object): void
}

const PATIENCE_MS = 15_000

/** Starts one of our programs on this Node, its output going where ours goes. */
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
      // One that has ended says so by `ended`.
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

/** Waits until `url` answers with 200, or a program of ours has ended. */
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
