import type { OrderFamily } from '@netlet/contract'
import { sql, type SQL } from 'drizzle-orm'

/** Ids as one int[] parameter, ascending and distinct: a plain array would become a list of parameters. */
export function idList(ids: number[]): SQL {
  return sql`${sql.param(sortedIds(ids))}::int[]`
}

export function sortedIds(ids: number[]): number[] {
  return [...new Set(ids)].toSorted((a, b) => a - b)
}

/** Long ids as one bigint[] parameter. */
export function bigIdList(ids: number[]): SQL {
  return sql`${sql.param(ids)}::bigint[]`
}

/** A family as the inventory's functions take it. */
export const familyNumber = (family: OrderFamily): number => ({ ipv4: 4, ipv6: 6, any: 0 })[family]
