import { Client } from 'pg'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'

type Watched = {
  databaseUrl: string
  /** Does what the process has open answer? */
  answers: () => Promise<boolean>
  log: Log
  /** Called once. */
  onStuck: () => void
  everyMs?: number
  /** How long the process may go without an answer while new connections work. */
  patienceMs?: number
}

/**
 * Looks whether the process still reaches its database. Connections that vanish without a word are thrown away by time
 * limits of their own; where that does not help, and a new connection works, only a new process does. While the database
 * itself is away, nothing is done: a restart would not bring it back.
 * @returns stops looking
 */
export function watchDatabase(watched: Watched): () => void {
  const { databaseUrl, answers, log, onStuck, everyMs = 10_000, patienceMs = 90_000 } = watched
  let last = performance.now()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  async function look(): Promise<void> {
    const asked = performance.now()
    const answered = await Promise.race([answers().catch(() => false), sleep(everyMs, false, { ref: false })])
    if (answered) last = performance.now()
    // A machine that slept, or a process that had no time, was not without an answer: it did not ask.
    else if (performance.now() - asked > 3 * everyMs) last = performance.now()
    else if (performance.now() - last >= patienceMs && (await opens(databaseUrl, everyMs)) && !stopped) {
      log.fatal({ seconds: Math.round((performance.now() - last) / 1000) }, 'the database answers new connections only')
      return onStuck()
    }
    lookLater()
  }

  function lookLater(): void {
    if (stopped) return
    timer = setTimeout(() => void look(), everyMs)
    timer.unref()
  }

  lookLater()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}

/** Does a new connection work? */
async function opens(databaseUrl: string, withinMs: number): Promise<boolean> {
  const client = new Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: withinMs,
    query_timeout: withinMs
  })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    return false
  } finally {
    void client.end().catch(() => {})
  }
}
