import type { BulkRun } from '@netlet/contract'
import { asc, eq, isNull, max, sql } from '../../../infra/db/drizzle.ts'
import { SYSTEM } from '../../../infra/actor.ts'
import { command } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import { bulkActions } from '../../../bulk-actions.ts'
import { paidEvent, place } from '../../../testing/buying.ts'
import type { AgentRunner } from '../../../testing/agent-runner.ts'
import type { TestClient } from '../../../testing/client.ts'
import { startTestStack, type TestStack } from '../../../testing/test-stack.ts'
import { eventHandlers } from '../../../event-handlers.ts'
import { workOnRun } from '../../bulk/work-on-run.ts'
import { handleEvent, storeEvent } from '../../commerce/index.ts'
import { convergeServer } from '../../convergence/index.ts'
import { sendGathered } from '../../mail/gather.ts'
import { mailParts } from '../../mail/tables.ts'
import { serversBehind } from '../../servers/index.ts'
import { AgentCallFailed } from '../../convergence/converge.ts'
import { checkServers } from '../../convergence/check-servers.ts'
import { agentUsers, servers } from '../../servers/tables.ts'
import { audit } from '../../inventory/index.ts'
import { orders } from '../../orders/tables.ts'
import { writeSettings } from '../../settings/index.ts'
import { confirmOutcomes } from '../index.ts'
import { proxies } from '../tables.ts'
import { sweep } from '../advance.ts'
import { fromNow } from '../../../testing/later.ts'

/** A server with an agent of its own. */
export type TestServer = { id: number; agent: Pick<AgentRunner, 'start' | 'stop'> }

/** A stack whose jobs the test runs itself: only the API has a process. The test moves its clock ahead. */
export type ServersStack = Omit<TestStack, 'ctx' | 'admin'> & {
  ctx: AppContext
  buyer: TestClient
  admin: TestClient
  first: TestServer
  pass(milliseconds: number): void
  addNamed(range: string): Promise<TestServer>
  /** An unpaid order. */
  place(quantity: number): Promise<typeof orders.$inferSelect>
  /** The platform reports its payment, or a renewal. @returns the event, to be handled */
  report(publicId: string, renewal: boolean): Promise<string>
  handle(eventId: string): Promise<unknown>
  /** An order whose payment has been settled, but which is on no agent yet. */
  paid(quantity: number): Promise<number>
  /** The same, on its agents. */
  delivered(quantity: number): Promise<number>
  converge(serverId: number): Promise<unknown>
  /** Converges the agents that answer until nothing more happens. */
  settle(): Promise<void>
  /** The minute's health check. */
  health(): Promise<void>
  order(id: number): Promise<typeof orders.$inferSelect>
  /** How many of an order's proxies work, by server. */
  live(id: number): Promise<Record<number, number>>
  usersOn(serverId: number): Promise<{ username: string; wanted: boolean }[]>
  stock(): Promise<number>
  /** Works on a run to its end, one row at a time. */
  finish(run: BulkRun | null): Promise<void>
  /** Keys of the notices that commands sent to operators. */
  notices(): Promise<string[]>
  mails(template: string): Promise<{ to: string; language: string; key: string }[]>
}

export async function startServersStack(range: string): Promise<ServersStack> {
  const stack = await startTestStack({ range, ruleCount: 1 })
  const shop = await stack.startShop('serve')
  const buyer = await stack.customer(shop.url, 'buyer1')
  const admin = await stack.admin(shop.url, 'boss1')
  let ahead = 0
  let events = 0
  const ctx: AppContext = { ...stack.ctx, now: () => fromNow(stack.ctx, ahead) }
  const { db } = ctx
  // Orders that end give their addresses back as soon as their agents have confirmed.
  await writeSettings(ctx, { grace_hours: 0 })
  const converge = (serverId: number) => convergeServer(ctx, serverId, confirmOutcomes(ctx)).catch(unlessAway)
  const settle = async () => {
    for (let round = 0; round < 12; round++) {
      await sweep(ctx)
      const behind = await serversBehind(db)
      if (behind.length === 0) return
      for (const serverId of behind) await converge(serverId)
    }
  }
  const report = async (publicId: string, renewal: boolean) => {
    const eventId = `paid-${(events += 1)}`
    const [order] = await db.select().from(orders).where(eq(orders.publicId, publicId))
    const lines = Object.fromEntries(order?.lines.map(({ variant, quantity }) => [variant, quantity]) ?? [])
    const payload = paidEvent({ publicId, amount: '1000.00', renewal, lines })
    await command(ctx, SYSTEM, unit => storeEvent(unit, { eventId, topic: 'orders/paid', payload }))
    return eventId
  }
  const handle = (eventId: string) => handleEvent(ctx, eventHandlers, eventId)
  const placeOne = async (quantity: number) => {
    const placed = await place(stack, buyer, quantity, stack.rules)
    if (placed.code !== 2000) throw new Error(placed.msg)
    const [order] = await db.select().from(orders).where(eq(orders.publicId, placed.data.order_id))
    if (!order) throw new Error('no order')
    return order
  }
  const paid = async (quantity: number) => {
    const { id, publicId } = await placeOne(quantity)
    await handle(await report(publicId, false))
    return id
  }
  return {
    ...stack,
    ctx,
    buyer,
    admin,
    first: {
      id: stack.serverId,
      agent: { start: () => stack.restartAgent(), stop: () => stack.stopAgent() }
    },
    pass: milliseconds => void (ahead += milliseconds),
    async addNamed(more) {
      const agent = await stack.addServer(more)
      const [server] = await db
        .select()
        .from(servers)
        .where(eq(servers.name, `agent of ${more}`))
      return { id: server?.id ?? 0, agent }
    },
    place: placeOne,
    report,
    handle,
    paid,
    async delivered(quantity) {
      const id = await paid(quantity)
      await settle()
      return id
    },
    converge,
    settle,
    health: () => checkServers(ctx),
    async order(id) {
      const [order] = await db.select().from(orders).where(eq(orders.id, id))
      if (!order) throw new Error('no order')
      return order
    },
    async live(id) {
      const rows = await db
        .select({ serverId: proxies.serverId, count: sql<number>`count(*)::int` })
        .from(proxies)
        .where(sql`${proxies.orderId} = ${id} and ${proxies.state} = 'live'`)
        .groupBy(proxies.serverId)
      return Object.fromEntries(rows.map(row => [row.serverId, row.count]))
    },
    usersOn: serverId =>
      db
        .select({ username: agentUsers.username, wanted: agentUsers.wanted })
        .from(agentUsers)
        .where(eq(agentUsers.serverId, serverId))
        .orderBy(asc(agentUsers.username)),
    async stock() {
      const { rows } = await db.execute<{ stock: number }>(
        sql`select inventory.stock(${stack.groupId}, 8, array[${sql.raw(stack.rules.join(','))}]::int[]) as stock`
      )
      return rows[0]?.stock ?? 0
    },
    async finish(run) {
      if (!run) throw new Error('there is no run')
      while (await workOnRun(ctx, bulkActions, run.id, { sliceMs: 0 }));
    },
    async mails(template) {
      const { cause, to, id } = mailParts
      const gathering = db
        .select({ cause, to, last: max(id).mapWith(Number) })
        .from(mailParts)
        .groupBy(cause, to)
      for (const one of await gathering) await sendGathered(ctx, { ...one, last: one.last ?? 0 })
      const { rows } = await db.execute<{ to: string; language: string; key: string }>(
        sql`select data ->> 'to' as to, data ->> 'language' as language, data ->> 'key' as key from pgboss.job
          where name = 'send-mail' and data ->> 'template' = ${template} order by created_on`
      )
      return rows
    },
    async notices() {
      const { rows } = await db.execute<{ key: string }>(
        sql`select data ->> 'key' as key from pgboss.job where name = 'raise-notice' order by created_on`
      )
      return rows.map(({ key }) => key)
    }
  }
}

/** Jobs retry if an agent is away. Any other error fails the test. */
function unlessAway(error: unknown): void {
  if (!(error instanceof AgentCallFailed)) throw error
}

/** What must hold at any time: no address is leased twice, and nothing is leased on a server that was given up. */
export async function wrongNow(db: AppContext['db']): Promise<unknown[]> {
  const { differences, doubleLeased } = await audit(db)
  const { rows } = await db.execute(sql`
    select s.id as "givenUp", l.order_id as "orderId" from servers s
      join chunks c on c.server_id = s.id join lease_blocks b on b.chunk_id = c.id and b.released_at is null
      join leases l on l.id = b.lease_id
    where s.status = 'given_up'`)
  const orphans = await db
    .select({ orphan: agentUsers.username })
    .from(agentUsers)
    .leftJoin(orders, eq(orders.id, agentUsers.orderId))
    .where(isNull(orders.id))
  return [...(differences + doubleLeased > 0 ? [{ differences, doubleLeased }] : []), ...rows, ...orphans]
}
