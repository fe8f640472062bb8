import { refuse, type Refusal } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { sqlState, violatedConstraint } from '../../infra/db/client.ts'
import type { Result } from '../../infra/result.ts'
import type { CidrRefusal } from '../inventory/index.ts'
import { servers } from './tables.ts'

/** Says which ranges, servers and orders stand in the way. */
export async function cidrRefusal(db: Executor, refusal: CidrRefusal): Promise<Refusal> {
  if (refusal.reason === 'invalid') {
    const msg = refusal.lines.map(line => line.message).join('; ')
    return refuse('invalid_cidr', { msg, data: { errors: { cidr: msg } } })
  }
  if (refusal.reason === 'leased') {
    const msg = `Addresses of ${refusal.cidr} are still leased by ${orderNames(refusal.orders)}`
    return refuse('cidr_has_leases', { msg, data: { cidr: refusal.cidr, orders: refusal.orders } })
  }
  const [owner] =
    refusal.serverId === null
      ? []
      : await db.select({ name: servers.name }).from(servers).where(eq(servers.id, refusal.serverId))
  const msg = `${refusal.cidr} overlaps ${refusal.with}${owner ? ` of server ${owner.name}` : ''}`
  return refuse('cidr_overlaps', { msg, data: { errors: { cidr: msg } } })
}

/** 'order #4', 'orders #4, #9 and 12 more'. */
export function orderNames(orderIds: number[]): string {
  const shown = orderIds.slice(0, 10).map(id => `#${id}`)
  const more = orderIds.length > shown.length ? ` and ${orderIds.length - shown.length} more` : ''
  return `${orderIds.length === 1 ? 'order' : 'orders'} ${shown.join(', ')}${more}`
}

/** Runs a command whose write may meet the unique index `constraint` of a name. */
export async function withUniqueName<T>(constraint: string, command: () => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await command()
  } catch (error) {
    if (sqlState(error) === '23505' && violatedConstraint(error) === constraint) {
      return refuse('name_taken', { data: { errors: { name: 'This name is already in use' } } })
    }
    throw error
  }
}
