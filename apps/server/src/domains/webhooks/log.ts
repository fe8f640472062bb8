import {
  type DeliveryState,
  refuse,
  type WebhookDelivery,
  type WebhookDeliveryDetail,
  type WebhookEndpoint,
  type WebhookEvent,
  type WebhookFailure
} from '@netlet/contract'
import { and, desc, eq, isNotNull, isNull, or, sql, type SQL } from '../../infra/db/drizzle.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import { lower } from '../../infra/db/columns.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { ok, type Result } from '../../infra/result.ts'
import { users } from '../accounts/tables.ts'
import { isOf, presentEndpoint } from './endpoints.ts'
import { payloadOf } from './payload.ts'
import { type Owner } from './policy.ts'
import { webhookAttempts, webhookDeliveries, webhookEndpoints, webhookEvents } from './tables.ts'

const MOST_ATTEMPTS = 50

type EndpointQuery = ListInput<'id'> & { whose?: 'operators' | 'customers' | undefined; user_id?: number | undefined }

export const endpointList = (now: () => Date) =>
  defineList<EndpointQuery, WebhookEndpoint>({
    name: 'webhook_endpoints',
    table: webhookEndpoints,
    id: webhookEndpoints.id,
    sort: { id: webhookEndpoints.id },
    match: (_db, { whose, user_id: userId, search }) => ({
      where: [
        isNull(webhookEndpoints.deletedAt),
        whose === 'operators' ? isNull(webhookEndpoints.userId) : undefined,
        whose === 'customers' ? isNotNull(webhookEndpoints.userId) : undefined
      ],
      ...(userId === undefined ? {} : { anyOf: [{ column: webhookEndpoints.userId, among: [userId] }] }),
      text: search ? { in: webhookEndpoints.url, term: search } : undefined
    }),
    load: async (db, ids) => {
      const rows = await db
        .select({ row: webhookEndpoints, username: users.username })
        .from(webhookEndpoints)
        .leftJoin(users, eq(users.id, webhookEndpoints.userId))
        .where(among(webhookEndpoints.id, ids))
      return rows.map(({ row, username }) => presentEndpoint(row, username, now()))
    }
  })

type DeliveryQuery = ListInput<'id'> & {
  state?: DeliveryState | undefined
  event?: WebhookEvent | undefined
  endpoint_id?: number | undefined
  user_id?: number | undefined
}

/** Deliveries, newest first. @param owner the endpoints' owner; undefined: all */
export const deliveryList = (owner?: Owner) =>
  defineList<DeliveryQuery, WebhookDelivery>({
    name: 'webhook_deliveries',
    table: webhookDeliveries,
    id: webhookDeliveries.id,
    sort: { id: webhookDeliveries.id },
    async match(db, { state, event, endpoint_id: endpointId, user_id: userId, search }) {
      const where = [
        state === undefined ? undefined : eq(webhookDeliveries.state, state),
        event === undefined ? undefined : eq(webhookDeliveries.type, event)
      ]
      const isEvent = search?.startsWith('evt_') === true
      if (search !== undefined && isEvent) where.push(eq(webhookDeliveries.eventId, eventOf(search)))
      const asked = await endpointsFor(db, {
        endpointId,
        whose: owner === undefined ? userId : owner,
        name: isEvent ? undefined : search
      })
      return { where, ...(asked ? { anyOf: [{ column: webhookDeliveries.endpointId, among: asked }] } : {}) }
    },
    load: async (db, ids) => {
      const rows = await selectDeliveries(db).where(among(webhookDeliveries.id, ids))
      return rows.map(row => presentDelivery(row, owner))
    }
  })

/** The event with this `webhook-id`; it may not exist. */
const eventOf = (publicId: string): SQL<number> =>
  sql`(select ${webhookEvents.id} from ${webhookEvents} where ${webhookEvents.publicId} = ${publicId})`

type Asked = { endpointId: number | undefined; whose: Owner | undefined; name: string | undefined }

/** Endpoints that meet all conditions, including deleted ones, whose deliveries are still listed. Undefined: any. */
async function endpointsFor(db: Executor, { endpointId, whose, name }: Asked): Promise<number[] | undefined> {
  const lists = [
    endpointId === undefined ? undefined : [endpointId],
    whose === undefined ? undefined : await endpointsOf(db, whose),
    name === undefined ? undefined : await endpointsOfNamed(db, name)
  ]
  const [first, ...more] = lists.filter(list => list !== undefined)
  return first && more.reduce((all, list) => all.filter(id => list.includes(id)), first)
}

/** Endpoints of the user with exactly this name or e-mail address. */
async function endpointsOfNamed(db: Executor, name: string): Promise<number[]> {
  const [user] = await db
    .select({ id: users.id })
    .from(users)
    .where(or(eq(lower(users.username), name.toLowerCase()), eq(lower(users.email), name.toLowerCase())))
    .limit(1)
  return user ? endpointsOf(db, user.id) : []
}

/** Limited to as many as one owner can create while deleted ones are kept. */
async function endpointsOf(db: Executor, owner: Owner): Promise<number[]> {
  const rows = await db
    .select({ id: webhookEndpoints.id })
    .from(webhookEndpoints)
    .where(isOf(owner))
    .orderBy(desc(webhookEndpoints.id))
    .limit(1000)
  return rows.map(({ id }) => id)
}

const selectDeliveries = (db: Executor) =>
  db
    .select({
      delivery: webhookDeliveries,
      eventId: webhookEvents.publicId,
      url: webhookEndpoints.url,
      userId: webhookEndpoints.userId,
      username: users.username
    })
    .from(webhookDeliveries)
    .innerJoin(webhookEvents, eq(webhookEvents.id, webhookDeliveries.eventId))
    .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, webhookDeliveries.endpointId))
    .leftJoin(users, eq(users.id, webhookEndpoints.userId))

type Row = Awaited<ReturnType<typeof selectDeliveries>>[number]

/**
 * Customers could otherwise probe names in the shop's own network and where they resolve. The time of a look-up would
 * reveal them too.
 */
const shownTo = (owner: Owner | undefined, failure: WebhookFailure | null): WebhookFailure | null =>
  typeof owner === 'number' && (failure === 'not_public' || failure === 'own_address') ? 'unresolved' : failure
const isHidden = (owner: Owner | undefined, failure: WebhookFailure | null): boolean =>
  typeof owner === 'number' && shownTo(owner, failure) === 'unresolved'

const presentDelivery = ({ delivery, eventId, url, userId, username }: Row, owner?: Owner): WebhookDelivery => ({
  id: delivery.id,
  endpoint_id: delivery.endpointId,
  user_id: userId,
  username,
  url,
  event_id: eventId,
  event: delivery.type,
  state: delivery.state,
  tries: delivery.tries,
  status: delivery.status,
  failure: shownTo(owner, delivery.failure),
  next_try_at: delivery.state === 'waiting' ? iso(delivery.nextAt) : null,
  created_at: iso(delivery.createdAt),
  ended_at: isoOrNull(delivery.endedAt)
})

/** One delivery with its payload and all tries. @param owner the endpoint's owner; undefined: any */
export async function readDelivery(
  { db, config }: Pick<AppContext, 'db' | 'config'>,
  id: number,
  owner?: Owner
): Promise<Result<WebhookDeliveryDetail>> {
  const [row] = await selectDeliveries(db).where(
    and(eq(webhookDeliveries.id, id), owner === undefined ? undefined : isOf(owner))
  )
  if (!row) return refuse('not_found')
  const [event] = await db.select().from(webhookEvents).where(eq(webhookEvents.id, row.delivery.eventId))
  if (!event) return refuse('not_found')
  const attempts = await db
    .select()
    .from(webhookAttempts)
    .where(eq(webhookAttempts.deliveryId, id))
    .orderBy(desc(webhookAttempts.id))
    .limit(MOST_ATTEMPTS)
  return ok({
    ...presentDelivery(row, owner),
    payload: payloadOf(event, config.publicUrl, row.userId === null),
    attempts: attempts.toReversed().map(attempt => ({
      at: iso(attempt.at),
      status: attempt.status,
      failure: shownTo(owner, attempt.failure),
      detail: isHidden(owner, attempt.failure) ? null : attempt.detail,
      duration_ms: isHidden(owner, attempt.failure) ? 0 : attempt.durationMs,
      answer: attempt.answer
    }))
  })
}
