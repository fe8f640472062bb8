import { fillIn, refusals, refuse, type Params, type Reason, type Refusal } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { leasedBy, type CidrRefusal } from '../inventory/index.ts'
import { servers } from './tables.ts'

export const nameTaken = refuse('name_taken', { data: { errors: { name: refusals.name_taken[1] } } })

/** A refusal that is shown beside a field of the form. */
export function fieldRefusal(field: string, reason: Reason, params: Params = {}): Refusal {
  return refuse(reason, { params, data: { errors: { [field]: fillIn(refusals[reason][1], params) } } })
}

/** Says which ranges, servers and orders are in the way. */
export async function cidrRefusal(db: Executor, refusal: CidrRefusal): Promise<Refusal> {
  if (refusal.reason === 'invalid') {
    const msg = refusal.lines.map(line => line.message).join('; ')
    return refuse('invalid_cidr', { msg, data: { errors: { cidr: msg } } })
  }
  const { cidr } = refusal
  if (refusal.reason === 'leased') return leasedBy('cidr', refusal.orders, { cidr })
  const [owner] =
    refusal.serverId === null
      ? []
      : await db.select({ name: servers.name }).from(servers).where(eq(servers.id, refusal.serverId))
  const params = { cidr, other: refusal.with }
  return owner
    ? fieldRefusal('cidr', 'cidr_overlaps_server', { ...params, server: owner.name })
    : fieldRefusal('cidr', 'cidr_overlaps', params)
}
