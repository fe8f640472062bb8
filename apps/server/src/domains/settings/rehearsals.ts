import { eq } from '../../infra/db/drizzle.ts'
import { z } from 'zod'
import type { Executor } from '../../infra/db/client.ts'
import { settings } from './tables.ts'

const KEY = 'backup_rehearsal'

const Rehearsal = z.object({
  at: z.iso.datetime(),
  /** The moment that the restored database was at; null: unknown. */
  data_until: z.iso.datetime().nullable(),
  /** Why it failed; null: it did not. */
  error: z.string().nullable()
})
type Rehearsal = z.infer<typeof Rehearsal>

/** The latest rehearsal of a restore; null if there was none. */
export async function readRehearsal(db: Executor): Promise<Rehearsal | null> {
  const [row] = await db.select({ value: settings.value }).from(settings).where(eq(settings.key, KEY))
  return row ? Rehearsal.parse(row.value) : null
}

/** Keeps the outcome of a rehearsal, for Health and the alerts. */
export async function recordRehearsal(
  tx: Executor,
  { at, dataUntil, error }: { at: Date; dataUntil: Date | null; error: string | null }
): Promise<void> {
  const value: Rehearsal = { at: at.toISOString(), data_until: dataUntil?.toISOString() ?? null, error }
  await tx
    .insert(settings)
    .values({ key: KEY, value, updatedAt: at })
    .onConflictDoUpdate({ target: settings.key, set: { value, updatedAt: at } })
}
