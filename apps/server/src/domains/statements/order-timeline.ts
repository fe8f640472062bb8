import { refuse, type TimelineEntry } from '@netlet/contract'
import { and, eq, inArray, isNull, or, sql, type SQL } from '../../infra/db/drizzle.ts'
import { iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { auditLog } from '../../infra/tables.ts'
import { platformEvents } from '../commerce/tables.ts'
import { accessProofs } from '../proofs/tables.ts'
import { servers } from '../servers/tables.ts'
import { canBeSentAgain, keysOfCopies } from '../mail/index.ts'
import { isAboutOutage, keyPart, mails } from '../mail/tables.ts'
import { orderEvents, orders } from '../orders/tables.ts'
import { paymentRefunds, payments } from '../payments/tables.ts'

type Query = { limit: number; earlier?: string | undefined }
type Row = Omit<TimelineEntry, 'at'> & { micros: string; rank: number; at: string }

/**
 * An order's history from all its sources, newest first. An operator's action appears once: as the order's event of the
 * same transaction, with the operator's name, if there is one.
 * @returns `next`: the next call's `earlier`; null at the beginning
 */
export async function orderTimeline(
  db: Executor,
  id: number,
  { limit, earlier }: Query
): Promise<Result<{ data: TimelineEntry[]; next: string | null }>> {
  const [order] = await db
    .select({ publicId: orders.publicId, platformId: orders.platformOrderId })
    .from(orders)
    .where(and(eq(orders.id, id), isNull(orders.deletedAt)))
  if (!order) return refuse('not_found')
  const paid = await db.select({ id: payments.platformOrderId }).from(payments).where(eq(payments.orderId, id))
  const platformIds = [
    ...new Set([...paid.map(payment => payment.id), ...(order.platformId ? [order.platformId] : [])])
  ]
  const events = await db
    .select({ id: platformEvents.id })
    .from(platformEvents)
    .where(or(eq(platformEvents.orderPublicId, order.publicId), inArray(platformEvents.platformOrderId, platformIds)))
  const eventIds = events.map(event => event.id)
  const { rows } = await db.execute<Row>(sql`
    with acts as materialized (
      select id, at, action, actor_name, viewed_as from ${auditLog} where target_type = 'order' and target_id = ${String(id)}),
    happened as materialized (select id, at, kind, detail from ${orderEvents} where order_id = ${id}),
    told as (
      select 3 as rank, h.at, 'order' as source, h.id, h.kind, h.detail - 'by' as detail,
        coalesce(a.actor_name, h.detail ->> 'by') as actor, a.viewed_as, false as can_resend
      from happened h left join (select distinct on (at) at, actor_name, viewed_as from acts order by at, id) a on a.at = h.at
      union all
      select 4, at, 'admin', id, action, '{}'::jsonb, actor_name, viewed_as, false
      from acts where not exists (select 1 from happened h where h.at = acts.at)
      union all
      select 4, at, 'admin', id, action, '{}'::jsonb, actor_name, viewed_as, false
      from ${auditLog} where target_type = 'platform_event' and ${isOneOf(sql`target_id`, eventIds.map(String))}
      union all
      select 2, received_at, 'platform', id, coalesce(outcome, 'waiting'),
        coalesce(detail, '{}'::jsonb) || jsonb_strip_nulls(jsonb_build_object('topic', topic, 'platform_order',
          platform_order_name, 'resolution', resolution, 'note', resolution_note, 'resolved_by', resolved_by)),
        null, null, false
      from ${platformEvents} where ${isOneOf(sql`id`, eventIds)}
      union all
      select 1, created_at, 'mail', id, template,
        jsonb_strip_nulls(jsonb_build_object('state', state, 'to', "to", 'error_code', error_code, 'error', error)),
        null, null, ${canBeSentAgain}
      from ${mails} where ${isAbout(id, platformIds)}
      union all
      select 5, coalesce(p.settled_at, p.asked_at), 'proof', p.id, p.kind || '.' || p.state,
        jsonb_strip_nulls(jsonb_build_object('server', s.name, 'cause', p.cause, 'answer', p.tries -> 0 ->> 'answer',
          'address', p.tries -> 0 ->> 'address', 'seen', p.tries -> 0 ->> 'seen', 'took', p.tries -> 0 -> 'took')),
        p.acknowledged_by, null, false
      from ${accessProofs} p join ${servers} s on s.id = p.server_id where p.order_id = ${id})
    select * from (
      select *, (extract(epoch from at) * 1000000)::bigint::text as micros from told) placed
    where ${isBefore(earlier)}
    order by at desc, rank desc, id desc limit ${limit + 1}`)
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return ok({
    data: shown.map(({ micros: _micros, rank: _rank, ...entry }) => ({
      ...entry,
      at: iso(new Date(entry.at))
    })),
    next: rows.length > limit && last ? `${last.micros}.${last.rank}.${last.id}` : null
  })
}

/**
 * The mails about an order: their keys contain its id or a payment's, see `enqueueMail`. Each branch has an index,
 * including the last one, which reads the keys first.
 */
export function isAbout(id: number, platformIds: string[]): SQL {
  const part = (at: 1 | 2) => keyPart(mails.key, at)
  return sql`(${part(1)} in ('received', 'cancelled', 'reminder', 'delivered', 'expired', 'refused', 'moved', 'changed', 'traffic')
      and ${part(2)} = ${String(id)}
    or ${isAboutOutage(mails.key)} and ${keyPart(mails.key, 3)} = ${String(id)}
    or ${part(1)} in ('receipt', 'renewed', 'not-delivered', 'refunded') and ${isOneOf(part(2), platformIds)}
    or ${mails.key} = any(array(select ${keysOfCopies(sql`'refunded-part:' || r.key`)} from ${paymentRefunds} r
      where ${isOneOf(sql`r.platform_order_id`, platformIds)})))`
}

const isOneOf = (column: SQL, values: readonly (string | number)[]): SQL =>
  values.length === 0
    ? sql`false`
    : sql`${column} in (${sql.join(
        values.map(value => sql`${value}`),
        sql`, `
      )})`

function isBefore(earlier: string | undefined): SQL {
  const [micros, rank, id] = earlier?.split('.') ?? []
  return micros ? sql`(micros::bigint, rank, id) < (${micros}::bigint, ${rank}::int, ${id}::bigint)` : sql`true`
}
