import { MINUTE } from './clock.ts'
import type { Log } from './log.ts'

/** Errors of so many kinds are told apart. */
const MOST_KINDS = 20

/**
 * Tells of what goes wrong in the job queue itself. While the database is away each worker of each queue fails each second
 * or two, all in the same way: that is told once a minute with how many there were, or it would push everything else out of
 * the log that the console shows.
 * @param now milliseconds of any clock that does not go back
 */
export function tellJobErrors(log: Log, now: () => number = () => performance.now()): (error: unknown) => void {
  const told = new Map<string, { at: number; more: number }>()
  return error => {
    const kind = kindOf(error)
    const last = told.get(kind)
    if (last && now() - last.at < MINUTE) return void last.more++
    log.error({ err: asError(error), ...(last && last.more > 0 ? { more: last.more } : {}) }, 'job queue')
    told.delete(kind)
    told.set(kind, { at: now(), more: 0 })
    const [oldest] = told.keys()
    if (told.size > MOST_KINDS && oldest !== undefined) told.delete(oldest)
  }
}

/** The system's or the database's code, which is the same whatever was being done; else the words. */
function kindOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { code, message } = error as { code?: unknown; message?: unknown }
  return String(code ?? message)
}

/** Of a lost connection the queue says an object that is no Error. What else is in it may quote what was written. */
function asError(error: unknown): Error {
  if (error instanceof Error) return error
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error
  return new Error(String(message))
}
