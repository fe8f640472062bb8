import type { OrderFamily } from '@netlet/contract'
import { sql, type SQL } from '../../infra/db/drizzle.ts'

/** Ids as one int[] parameter, ascending and distinct. A plain array would become a list of parameters. */
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

/** The code of a family in the inventory's functions. */
export const familyNumber = (family: OrderFamily): number => ({ ipv4: 4, ipv6: 6, any: 0 })[family]
