import { Client } from 'pg'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'

type Watched = {
  databaseUrl: string
  /** Do the process's open connections answer? */
  answers: () => Promise<boolean>
  log: Log
  onStuck: () => void
  everyMs?: number
  /** How long the process may go without an answer while new connections work. */
  patienceMs?: number
}

/**
 * Checks that the process still reaches its database. Timeouts normally close connections that vanished silently. If
 * that does not help although a new connection works, the process has to restart. While the database itself is away a
 * restart would not help, so nothing happens.
 * @returns a function that stops the checks
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
    // The machine slept or the process was starved, so the silence proves nothing.
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
