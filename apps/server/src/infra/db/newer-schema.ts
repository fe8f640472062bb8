import type { Database } from './client.ts'
import { sql } from './drizzle.ts'
import { knownMigrations } from './migrate.ts'

type Watched = {
  db: Database
  log: { warn(fields: object, text: string): void }
  /** Called once, `graceMs` after a newer version has migrated the database. */
  onNewer: () => void
  everyMs?: number
  /** Time for the newer version to start and answer. */
  graceMs?: number
}

/** Processes that start together must not end together. */
const grace = (): number => 90_000 + Math.random() * 60_000

/**
 * Finds out that a newer version of the code has migrated the database. This process goes on meanwhile: a migration
 * leaves what the version before it uses. Then it has to end, so that its supervisor starts the newer code.
 * @returns a function that stops the checks
 */
export function watchSchema({ db, log, onNewer, everyMs = 15_000, graceMs = grace() }: Watched): () => void {
  const newest = Math.max(...knownMigrations())
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  async function look(): Promise<void> {
    const applied = await db
      .execute<{ at: string }>(sql`select max(created_at)::text as at from drizzle.__drizzle_migrations`)
      .then(({ rows }) => Number(rows[0]?.at ?? 0))
      // Others notice that the database is away.
      .catch(() => 0)
    if (stopped) return
    if (applied > newest) {
      const seconds = Math.round(graceMs / 1000)
      log.warn({ seconds }, 'a newer version has migrated the database: this process ends soon')
      wait(onNewer, graceMs)
    } else wait(() => void look(), everyMs)
  }

  function wait(next: () => void, ms: number): void {
    timer = setTimeout(next, ms)
    timer.unref()
  }

  wait(() => void look(), everyMs)
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}
