import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { withOriginalPriority } from '../main-process.ts'
import { type Channel, TAKEOVER, type ToPredecessor, type ToSuccessor, channelOf } from './messages.ts'

/** Signals a process of a takeover. It may have just ended, and its number been freed, before the channel reports it. */
export function signalIfThere(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It is already gone.
  }
}

/**
 * Starts a grandchild, so that the serving process is never our child and the supervisor (systemd) learns of its end. The shell prints
 * its number and passes everything else on.
 */
const DETACHED = '"$@" >&4 4>&- & echo $!'

/** How to start a program. */
export type Program = { node: string; flags: readonly string[]; path: string; env: Record<string, string> }

export type Started = {
  channel: Channel<ToPredecessor, ToSuccessor>
  /** Asks it to end, as a service manager would. */
  end: () => void
  kill: () => Promise<void>
}

/**
 * How this process was started, with the path as the installation names it: a link is followed again at the next start. Must be called
 * at the start.
 * @param path the program's file, if no path was given
 */
export function ownProgram(path: string): Omit<Program, 'env'> {
  const { argv0, argv, execPath, execArgv } = process
  const named = argv[1] ?? ''
  return {
    node: isAbsolute(argv0) && existsSync(argv0) ? argv0 : execPath,
    flags: execArgv,
    path: existsSync(named) ? named : path
  }
}

/** Starts a successor in its own session. */
export async function startProgram({ node, flags, path, env }: Program): Promise<Started> {
  const child = withOriginalPriority(() =>
    spawn('/bin/sh', ['-c', DETACHED, 'sh', node, ...flags, path, TAKEOVER], {
      detached: true,
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'inherit', 'ipc', 1],
      env
    })
  )
  const channel = channelOf<ToPredecessor, ToSuccessor>(child)
  let said = ''
  child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const pid = await new Promise<number>(resolve => {
    child.once('error', () => resolve(0))
    child.stdout?.once('close', () => resolve(Number(said)))
  })
  if (!(pid > 0)) throw new Error('The shell that starts the program cannot be started.')
  return {
    channel,
    end: () => {
      if (!channel.isGone) signalIfThere(pid, 'SIGTERM')
    },
    kill: async () => {
      if (!channel.isGone) signalIfThere(pid, 'SIGKILL')
      await channel.gone
    }
  }
}
