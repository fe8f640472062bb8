import { and, eq, sql } from '../../infra/db/drizzle.ts'
import { z } from 'zod'
import { type Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { settings } from './tables.ts'

const KEY = 'restored_from_backup'

/** Ranges by server that an agent serves to a user of whom the restored database does not know. */
const HeldRanges = z.array(z.object({ server: z.number(), prefixes: z.array(z.string()) }))
export type HeldRanges = z.infer<typeof HeldRanges>

const Restored = z.object({
  backup_at: z.iso.datetime(),
  restored_at: z.iso.datetime(),
  /** What agents hold besides, by user; null until they were asked. */
  held: z.record(z.string(), HeldRanges).nullable(),
  recovered_at: z.iso.datetime().nullable()
})

export type Restored = {
  backupAt: Date
  restoredAt: Date
  held: Record<string, HeldRanges> | null
  /** Until then the shop sells nothing, ends no order and sends agents nothing. Null: it still does not. */
  recoveredAt: Date | null
}

/**
 * Marks a database that was restored: what was sold since the backup is on the platform and the agents, but not in it. A
 * backup of a shop that was still recovering lacks what was sold since the earlier backup.
 */
export async function markRestored(
  tx: Executor,
  { backupAt, restoredAt }: Pick<Restored, 'backupAt' | 'restoredAt'>
): Promise<void> {
  const earlier = await readRestored(tx)
  const since = earlier && earlier.recoveredAt === null ? earlier.backupAt : backupAt
  const value: z.infer<typeof Restored> = {
    backup_at: since.toISOString(),
    restored_at: restoredAt.toISOString(),
    held: null,
    recovered_at: null
  }
  await tx
    .insert(settings)
    .values({ key: KEY, value, updatedAt: restoredAt })
    .onConflictDoUpdate({ target: settings.key, set: { value, updatedAt: restoredAt } })
}

/** The latest restore of this database; null if it was never restored. */
export async function readRestored(db: Executor): Promise<Restored | null> {
  const [row] = await db.select({ value: settings.value }).from(settings).where(eq(settings.key, KEY))
  if (!row) return null
  const { backup_at, restored_at, held, recovered_at } = Restored.parse(row.value)
  return {
    backupAt: new Date(backup_at),
    restoredAt: new Date(restored_at),
    held,
    recoveredAt: recovered_at === null ? null : new Date(recovered_at)
  }
}

/** Does the shop still look for what was sold between its backup and its restore? */
export async function isRecovering(db: Executor): Promise<boolean> {
  return (await db.$count(settings, and(eq(settings.key, KEY), sql`${settings.value} ->> 'recovered_at' is null`))) > 0
}

export async function recordHeld({ tx, now }: Unit, held: Record<string, HeldRanges>): Promise<void> {
  const value = sql`${settings.value} || jsonb_build_object('held', ${JSON.stringify(held)}::jsonb)`
  await tx.update(settings).set({ value, updatedAt: now }).where(eq(settings.key, KEY))
}

/** All that was paid since the backup is found. */
export async function endRecovery({ tx, now }: Unit): Promise<void> {
  const value = sql`${settings.value} || jsonb_build_object('recovered_at', ${now.toISOString()}::text)`
  await tx.update(settings).set({ value, updatedAt: now }).where(eq(settings.key, KEY))
}
