import { MINUTE } from './clock.ts'
import type { Log } from './log.ts'

/** Kinds of errors that are counted separately. */
const MOST_KINDS = 20

/**
 * Logs errors of the job queue, each kind once a minute with its count: while the database is away, every worker fails
 * every second, which would push everything else out of the console's log.
 * @param now milliseconds of a clock that never goes back
 */
export function logJobErrors(log: Log, now: () => number = () => performance.now()): (error: unknown) => void {
  const logged = new Map<string, { at: number; more: number }>()
  return error => {
    const kind = kindOf(error)
    const last = logged.get(kind)
    if (last && now() - last.at < MINUTE) return void last.more++
    log.error({ err: asError(error), ...(last && last.more > 0 ? { more: last.more } : {}) }, 'job queue')
    logged.delete(kind)
    logged.set(kind, { at: now(), more: 0 })
    const [oldest] = logged.keys()
    if (logged.size > MOST_KINDS && oldest !== undefined) logged.delete(oldest)
  }
}

/** The code of the system or the database, because the message varies with the statement; otherwise the message. */
function kindOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { code, message } = error as { code?: unknown; message?: unknown }
  return String(code ?? message)
}

/** For a lost connection the queue reports an object that is no Error. Its other fields may quote data. */
function asError(error: unknown): Error {
  if (error instanceof Error) return error
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error
  return new Error(String(message))
}
