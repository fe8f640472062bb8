import type { StatusPage } from '@netlet/contract'
import { serverGroups, serverGroupServers, servers } from '../servers/tables.ts'
import { products, variants } from '../catalog/tables.ts'
import type { TestShop } from '../../testing/shop.ts'
import { MINUTE } from '../../infra/clock.ts'
import { addRow } from '../../testing/rows.ts'

/** A clock that stands still until it is moved. */
export function openClock(start: string) {
  let at = new Date(start).getTime()
  return {
    now: () => new Date(at),
    pass: (minutes: number) => void (at += minutes * MINUTE)
  }
}

/** Adds servers that answer, by name. @returns their ids */
export async function addServers({ ctx }: Pick<TestShop, 'ctx'>, names: readonly string[]): Promise<number[]> {
  const known = await ctx.db.$count(servers)
  const rows = await ctx.db
    .insert(servers)
    .values(
      names.map((name, at) => ({
        name,
        ip: `203.0.113.${known + at + 1}`,
        connected: true,
        lastSeenAt: ctx.now(),
        createdAt: ctx.now()
      }))
    )
    .returning({ id: servers.id })
  return rows.map(({ id }) => id)
}

/** Adds a group with these servers and plans of these locations. @returns its id */
export async function addLocation(
  { ctx }: Pick<TestShop, 'ctx'>,
  { group, sells, on }: { group: string; sells: readonly string[]; on: readonly number[] }
): Promise<number> {
  const { db } = ctx
  const made = await addRow(ctx, serverGroups, { name: group })
  const groupId = made.id
  if (on.length > 0) await db.insert(serverGroupServers).values(on.map(serverId => ({ groupId, serverId })))
  const product = await addRow(ctx, products, { platformId: `p-${group}`, name: group })
  for (const [at, description] of sells.entries())
    await addRow(ctx, variants, {
      productId: product.id,
      platformId: `v-${group}-${at}`,
      name: `${description} ${at}`,
      description,
      option1: `${at}`,
      price: '1.00',
      serverGroupId: groupId
    })
  return groupId
}

/** The status page for a visitor, after the shared reply has expired. */
export async function readPage(shop: TestShop): Promise<StatusPage> {
  return (await shop.visitor().get<StatusPage>('/api/status/')).data
}
