import { sql } from '../../../infra/db/drizzle.ts'
import type { Model, ModelOrder, Real, Share } from './model.fixture.ts'

/** An order's leases, its users on agents, and its proxies. */
export type Placement = {
  shares: Share[]
  pending: Set<number>
  stopping: Set<number>
  live: Set<number>
  waiting: Set<number>
  /** Proxies that work. */
  works: number
}

export async function readPlacements({ world }: Real, orders: ModelOrder[]): Promise<Map<number, Placement>> {
  const { db } = world.shop.ctx
  const found = new Map(orders.map(({ id }) => [id, nothing()]))
  if (orders.length === 0) return found
  const ids = sql`(${sql.join(
    orders.map(({ id }) => sql`${id}`),
    sql`, `
  )})`
  const [leases, users, proxies] = await Promise.all([
    db.execute<Share & { id: number }>(sql`
      select l.order_id as id, c.server_id as server, l.replaced, sum(b.length) as addresses, l.replaced and exists (
        select from proxies p where p.lease_id = l.id and p.state <> 'retired') as again
      from leases l join lease_blocks b on b.lease_id = l.id join chunks c on c.id = b.chunk_id
      where l.order_id in ${ids} and b.released_at is null group by 1, 2, 3, 5 order by 1, 2, 3, 5`),
    db.execute<{ id: number; server: number; wanted: boolean; behind: boolean }>(sql`
      select order_id as id, server_id as server, wanted, generation <> applied_generation as behind
      from agent_users where order_id in ${ids}`),
    db.execute<{ id: number; server: number; state: 'pending' | 'live'; count: number }>(sql`
      select order_id as id, server_id as server, state, count(*) as count from proxies
      where order_id in ${ids} and state <> 'retired' group by 1, 2, 3`)
  ])
  const of = (id: number) => found.get(id) ?? nothing()
  for (const { id, ...share } of leases.rows) of(id).shares.push(share)
  for (const { id, server, wanted, behind } of users.rows) {
    if (!wanted) of(id).stopping.add(server)
    else if (behind) of(id).pending.add(server)
  }
  for (const { id, server, state, count } of proxies.rows) {
    of(id)[state === 'live' ? 'live' : 'waiting'].add(server)
    if (state === 'live') of(id).works += count
  }
  return found
}

const nothing = (): Placement => ({
  shares: [],
  pending: new Set(),
  stopping: new Set(),
  live: new Set(),
  waiting: new Set(),
  works: 0
})

/** The shop chooses where to place addresses. After a step that moves some, the model copies that choice. */
export async function takePlacement(model: Model, real: Real, orders: ModelOrder[]): Promise<void> {
  const placements = await readPlacements(real, orders)
  for (const order of orders) {
    const { shares, pending, stopping, live, waiting } = placements.get(order.id) ?? nothing()
    const since = (server: number) => order.waiting.get(server) ?? model.now
    Object.assign(order, {
      shares,
      pending,
      stopping,
      live,
      waiting: new Map([...waiting].map(server => [server, since(server)]))
    })
  }
}

/** Copies the resting addresses into the model. docs/INVENTORY.md says how long they rest. */
export async function takeResting(model: Model, { world }: Real): Promise<void> {
  const { rows } = await world.shop.ctx.db.execute<{ server: number; rule: number; addresses: number }>(sql`
    select c.server_id as server, r.id as rule, sum(b.length) as addresses
    from lease_blocks b join chunks c on c.id = b.chunk_id, unnest(b.rules) as r(id)
    where b.rests_until is not null group by 1, 2`)
  model.resting = rows.map(({ server, rule, addresses }) => ({
    server: server,
    rule: world.rules.indexOf(rule),
    addresses: addresses
  }))
}
