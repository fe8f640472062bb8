import { and, eq, isNull } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { servers } from './tables.ts'

export type ServerRow = typeof servers.$inferSelect

const isServer = (id: number) => and(eq(servers.id, id), isNull(servers.deletedAt))

/** A server's row; undefined if there is none or it was deleted. */
export async function readServerRow(db: Executor, id: number): Promise<ServerRow | undefined> {
  const [row] = await db.select().from(servers).where(isServer(id))
  return row
}

/** The same, locked until the transaction ends. Deliveries that hold the inventory may still refer to it. */
export async function lockServer({ tx }: Unit, id: number): Promise<ServerRow | undefined> {
  const [row] = await tx.select().from(servers).where(isServer(id)).for('no key update')
  return row
}

/**
 * Whether an agent serves another port than customers are shown, because an older database was restored or the
 * operator's own file on the machine sets it.
 */
export const isWrongPort = ({ proxyPort }: Pick<ServerRow, 'proxyPort'>, theirs: number): boolean =>
  Number.isInteger(theirs) && theirs >= 1 && theirs !== proxyPort
