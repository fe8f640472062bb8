import { setTimeout as sleep } from 'node:timers/promises'
import { checkInvariants } from '../backup/checks.ts'
import { sql } from '../infra/db/drizzle.ts'
import { reconcilePayments } from '../domains/reconciliation/reconcile.ts'
import { AGENT_TOKEN } from '../testing/agent-runner.ts'
import { ordersOf, proxiesOf, through } from '../testing/buying.ts'
import { eventually } from '../testing/test-stack.ts'
import type { Buyer } from './crowd.fixture.ts'
import type { World } from './world.fixture.ts'

/** How long a shop may take until everything is as it must be (ms). */
const DEADLINE = 120_000

/**
 * Waits until database, agents and platform agree.
 * @returns how long that took (ms), and what is still wrong at the end
 */
export async function settle(world: World): Promise<{ took: number; wrong: string[] }> {
  const { stack } = world
  const started = performance.now()
  for (const [path, body] of [
    ['/webhooks/faults', { action: 'none' }],
    ['/graphql/faults', { kind: 'none' }],
    ['/webhooks/release', { order: 'newest_first' }]
  ] as const)
    await fetch(`${stack.platform.url}/sandbox${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body)
    })
  for (;;) {
    // In a shop the hourly job does this. It finds what webhooks did not report.
    await reconcilePayments(stack.ctx).catch(() => {})
    const wrong = await differences(world).catch((error: unknown) => [String(error)])
    const took = performance.now() - started
    if (wrong.length === 0 || took > DEADLINE) return { took, wrong }
    await sleep(500)
  }
}

type PlatformOrder = { id: string; totalPrice: string; attributes: Record<string, string>; refunds: unknown[] }

async function differences(world: World): Promise<string[]> {
  const { stack, agents } = world
  const { db } = stack.ctx
  const wrong: string[] = []
  const list = async (what: string, query: ReturnType<typeof sql>) => {
    const { rows } = await db.execute<{ name: string }>(query)
    if (rows.length > 0) wrong.push(`${what}: ${rows.map(({ name }) => name).join(', ')}`)
  }

  for (const [what, count] of Object.entries(await checkInvariants(db))) if (count > 0) wrong.push(`${what}: ${count}`)
  await list('events not handled', sql`select event_id as name from platform_events where processed_at is null`)
  // Of an order whose purchase counts, all addresses work. One that was refunded has ended; an unpaid one has nothing.
  await list(
    'orders that are not as their payments say',
    sql`
    select o.order_id || ' (' || o.state || ', ' || o.delivery_num || '/' || o.quantity || ')' as name
    from orders o
    left join payments p on p.order_id = o.id and p.kind = 'purchase' and p.accepted
    where case
      when p.id is null then o.state not in ('placed', 'timed_out', 'cancelled')
      when p.refunded_at is not null then o.state <> 'refunded'
      else o.state <> 'delivered' or o.delivery_num <> o.quantity end`
  )

  const reply = await fetch(`${stack.platform.url}/sandbox/orders`)
  for (const order of (await reply.json()) as PlatformOrder[]) {
    const { rows } = await db.execute<{ refunded: boolean }>(
      sql`select refunded_at is not null as refunded from payments where platform_order_id = ${order.id}`
    )
    if (rows.length === 0) wrong.push(`payment unknown: ${order.id}`)
    else if (rows[0]?.refunded !== order.refunds.length > 0) wrong.push(`refund differs: ${order.id}`)
  }

  const { rows: named } = await db.execute<{ name: string }>(
    sql`select proxy_username as name from orders where state = 'delivered'`
  )
  const users = await Promise.all(agents.map(({ runner }) => usersOf(runner.ports.agent)))
  const expected = new Set(named.map(({ name }) => name))
  const found = new Set(users.flat())
  for (const name of found) if (!expected.has(name)) wrong.push(`an agent has a user of no order: ${name}`)
  for (const name of expected) if (!found.has(name)) wrong.push(`no agent has the user ${name}`)
  return wrong
}

async function usersOf(port: number): Promise<string[]> {
  const reply = await fetch(`http://127.0.0.1:${port}/api/state`, {
    headers: { authorization: `Bearer ${AGENT_TOKEN}` }
  })
  const { users } = (await reply.json()) as { users: { user: string }[] }
  return users.map(({ user }) => user)
}

/** Uses proxies of a buyer: those of delivered orders must work, those of refunded ones must not. @returns what is wrong */
export async function probe({ stack }: World, { clients: [client], proxies }: Buyer): Promise<string[]> {
  if (!client) return []
  const wrong: string[] = []
  const url = `${stack.platform.url}/echo`
  // A process may be starting again.
  const orders = await eventually('the orders', () => ordersOf(client).catch(() => null), DEADLINE)
  for (const order of orders) {
    if (order.state === 'delivered') {
      const all = await eventually('the proxies', () => proxiesOf(client, order.id).catch(() => null), DEADLINE)
      for (const proxy of [all[0], all.at(-1)])
        if (!proxy || (await through(proxy, url)) !== 200) wrong.push(`a proxy of ${order.order_id} does not work`)
    } else
      for (const proxy of (proxies.get(order.order_id) ?? []).slice(0, 1))
        if ((await through(proxy, url)) === 200) wrong.push(`a proxy of ${order.order_id} (${order.state}) still works`)
  }
  return wrong
}
