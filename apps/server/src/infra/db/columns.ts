/** Column types that all domains' tables share, so that ids, money and times are the same everywhere. */
import { isIP } from 'node:net'
import type { Translations } from '@netlet/contract'
import { bigint, customType, jsonb, numeric, timestamp } from 'drizzle-orm/pg-core'
import { type SQL, sql } from './drizzle.ts'

/** Identity key. It is an exact number, because no table reaches 2^53 rows. */
export const id = () => bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity()

/** A reference to another table's `id`; add `.references()`. */
export const ref = () => bigint({ mode: 'number' })

/** A point in time, UTC. */
export const instant = () => timestamp({ withTimezone: true, mode: 'date' })

export const createdAt = () => instant().notNull()

/** Exact decimal with 2 places, a string in JavaScript ('12.30'). */
export const money = () => numeric({ precision: 14, scale: 2 })

/** Whole points or coins. */
export const points = () => bigint({ mode: 'number' })

export const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' })

export const inet = customType<{ data: string }>({ dataType: () => 'inet' })

export const cidr = customType<{ data: string }>({ dataType: () => 'cidr' })

/** Texts in other languages, under the contract's names; empty if there are none. */
export const translations = () => jsonb().$type<Translations>().notNull().default({})

/** For case-insensitive uniqueness and lookups. */
export const lower = (column: unknown): SQL => sql`lower(${column})`

/** A check that a value is in a fixed list; null passes. */
export const oneOf = (column: unknown, values: readonly string[]): SQL =>
  sql`${column} in (${sql.raw(values.map(value => `'${value}'`).join(', '))})`

/** Does an inet column accept this address? It accepts no zone, as in fe80::1%eth0. */
export const isInet = (text: string): boolean => isIP(text) !== 0 && !text.includes('%')
