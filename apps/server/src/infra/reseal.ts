import type { PgTable } from 'drizzle-orm/pg-core'
import { SYSTEM } from './actor.ts'
import { command } from './command.ts'
import type { AppContext } from './context.ts'
import { and, getTableColumns, gt, inArray, isNotNull, or, type SQL } from './db/drizzle.ts'
import type { Executor } from './db/client.ts'
import type { Secrets } from './secrets.ts'

type Again = Secrets['resealed']
type Row = Record<string, unknown>

/** A table with sealed values. */
export type SealedTable = {
  table: PgTable
  /** The property of its primary key. */
  key: string
  /** By property: the value with its sealed parts sealed again; null if there is nothing to do. */
  columns: Record<string, (value: never, again: Again) => unknown>
  /** Leaves rows out. */
  where?: SQL
}

/** For a column that is a sealed value as a whole. */
export const whole = (value: Buffer, again: Again): Buffer | null => again(value)

const BATCH = 200

/** How many rows hold a value that APP_SECRET_PREVIOUS sealed. */
export async function countOld(
  { db, secrets }: Pick<AppContext, 'db' | 'secrets'>,
  all: SealedTable[]
): Promise<number> {
  let count = 0
  for (const sealed of all) for await (const keys of keysOfOld(db, secrets, sealed)) count += keys.length
  return count
}

/**
 * Seals what APP_SECRET_PREVIOUS sealed with APP_SECRET, a batch of rows at a time. It can be stopped at any point, and
 * repeated, also concurrently. What no secret opens stays as it is.
 * @returns how many rows it changed
 */
export async function resealAll(ctx: AppContext, all: SealedTable[]): Promise<number> {
  let count = 0
  for (const sealed of all)
    for await (const keys of keysOfOld(ctx.db, ctx.secrets, sealed)) {
      if (keys.length > 0) await resealRows(ctx, sealed, keys)
      count += keys.length
    }
  return count
}

async function resealRows(ctx: AppContext, sealed: SealedTable, keys: unknown[]): Promise<void> {
  const { table, id } = partsOf(sealed)
  await command(ctx, SYSTEM, async ({ tx }) => {
    const rows = await tx.select().from(table).where(inArray(id, keys)).orderBy(id).for('update')
    for (const row of rows as Row[]) {
      const changed = changesOf(row, sealed, ctx.secrets)
      if (changed)
        await tx
          .update(table)
          .set(changed)
          .where(inArray(id, [row[sealed.key]]))
    }
  })
}

async function* keysOfOld(db: Executor, secrets: Secrets, sealed: SealedTable): AsyncGenerator<unknown[]> {
  const { table, id, columns } = partsOf(sealed)
  const filled = or(...Object.values(columns).map(column => isNotNull(column)))
  let last: unknown
  for (;;) {
    const after = last === undefined ? undefined : gt(id, last)
    const rows: Row[] = await db
      .select({ ...columns, [sealed.key]: id })
      .from(table)
      .where(and(sealed.where, filled, after))
      .orderBy(id)
      .limit(BATCH)
    yield rows.filter(row => changesOf(row, sealed, secrets) !== null).map(row => row[sealed.key])
    if (rows.length < BATCH) return
    last = rows.at(-1)?.[sealed.key]
  }
}

function partsOf({ table, key, columns }: SealedTable) {
  const all = getTableColumns(table)
  const column = (name: string) => {
    const found = all[name]
    if (!found) throw new Error(`the table has no column ${name}`)
    return found
  }
  return {
    table,
    id: column(key),
    columns: Object.fromEntries(Object.keys(columns).map(name => [name, column(name)]))
  }
}

/** The columns to change; null if there are none. */
function changesOf(row: Row, { columns }: SealedTable, secrets: Secrets): Row | null {
  const again: Again = part => secrets.resealed(part)
  const changed = Object.entries(columns).flatMap(([name, reseal]) => {
    const value = row[name]
    const next = value === null ? null : reseal(value as never, again)
    return next === null ? [] : [[name, next] as const]
  })
  return changed.length === 0 ? null : Object.fromEntries(changed)
}
