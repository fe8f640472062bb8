/** Column shapes that every domain's tables share, so that ids, money and times are the same everywhere. */
import { sql, type SQL } from 'drizzle-orm'
import type { Translations } from '@netlet/contract'
import { bigint, customType, jsonb, numeric, timestamp } from 'drizzle-orm/pg-core'

/** Identity key. Numbers stay exact: 2^53 rows are out of reach. */
export const id = () => bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity()

/** A reference to another table's `id`; add `.references()`. */
export const ref = () => bigint({ mode: 'number' })

/** An instant, UTC. */
export const instant = () => timestamp({ withTimezone: true, mode: 'date' })

export const createdAt = () => instant().notNull()

/** Exact decimal with 2 places, a string in JavaScript ('12.30'). */
export const money = () => numeric({ precision: 14, scale: 2 })

/** Whole points or coins. */
export const points = () => bigint({ mode: 'number' })

export const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' })

export const inet = customType<{ data: string }>({ dataType: () => 'inet' })

export const cidr = customType<{ data: string }>({ dataType: () => 'cidr' })

/** Texts in other languages, by the names that the contract gives them; empty where there are none. */
export const translations = () => jsonb().$type<Translations>().notNull().default({})

/** Case-insensitive uniqueness and equality look-ups. */
export const lower = (column: unknown): SQL => sql`lower(${column})`

/** One of a closed list, for a check constraint; null passes. */
export const oneOf = (column: unknown, values: readonly string[]): SQL =>
  sql`${column} in (${sql.raw(values.map(value => `'${value}'`).join(', '))})`
