import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Health } from '@netlet/contract'
import { SYSTEM } from '../../../infra/actor.ts'
import { MINUTE } from '../../../infra/clock.ts'
import { command } from '../../../infra/command.ts'
import { bumpPrefixes } from '../../fleet/index.ts'
import { servers } from '../../fleet/tables.ts'
import { assignCidrs } from '../../inventory/index.ts'
import { startServersStack, type ServersStack } from './servers.fixture.ts'
import { answerWith, standBefore, type Answer } from './sick-agent.fixture.ts'

let stack: ServersStack
beforeAll(async () => {
  stack = await startServersStack('127.63.0.0/28')
})
afterAll(() => stack?.close())

const REFUSED = '127.63.9.0/28'
const refuses: Answer = ({ method, path, body }, response) =>
  method === 'PUT' &&
  path === '/api/prefixes' &&
  body.includes(REFUSED) &&
  answerWith(response, 400, { status: 400, reason: 'badPrefix', msg: `No route for ${REFUSED}` })

test('a range that an agent refuses holds up only the orders that need it, is not sold, and is told of once', async () => {
  const { ctx, first } = stack
  await stack.health()
  await stack.settle()
  const away = await standBefore(stack, first, refuses)
  await command(ctx, SYSTEM, async unit => {
    const assigned = await assignCidrs(unit, first.id, ['127.63.0.0/28', REFUSED, '127.63.1.0/29', '127.63.2.0/29'])
    if (!assigned.ok) throw new Error(assigned.reason)
    await bumpPrefixes(unit, first.id)
  })
  // Sold before its agent was asked.
  const early = await stack.paid(48)
  await stack.settle()
  expect((await stack.order(early)).state).not.toBe('delivered')
  const [row] = await ctx.db.select().from(servers).where(eq(servers.id, first.id))
  expect(row).toMatchObject({ refusedRanges: [REFUSED], trouble: 'prefixes_refused', failingSince: null })

  await command(ctx, SYSTEM, async unit => {
    const assigned = await assignCidrs(unit, first.id, [
      '127.63.0.0/28',
      REFUSED,
      '127.63.1.0/29',
      '127.63.2.0/29',
      '127.63.3.0/28'
    ])
    if (!assigned.ok) throw new Error(assigned.reason)
    await bumpPrefixes(unit, first.id)
  })
  await stack.converge(first.id)
  expect(await stack.stock()).toBe(16)
  const id = await stack.delivered(8)
  expect(await stack.order(id)).toMatchObject({ state: 'delivered', deliveryNum: 8 })
  for (let n = 0; n < 10; n++) {
    stack.pass(MINUTE)
    await stack.health()
    await stack.converge(first.id)
  }
  const { rows } = await ctx.db.execute(
    sql`select 1 from pgboss.job where name = 'send-mail' and data -> 'data' ->> 'subject' like '%refuses its ranges'`
  )
  expect(rows).toHaveLength(1)
  const { data } = await stack.admin.get<Health>('/api/settings/health')
  expect(data.servers?.troubled).toMatchObject([
    { id: first.id, message: `The agent did not take its ranges: No route for ${REFUSED}` }
  ])
  expect(await stack.stock()).toBe(8)

  await away()
  await stack.settle()
  expect(await stack.order(early)).toMatchObject({ state: 'delivered', deliveryNum: 48 })
  const [mended] = await ctx.db.select().from(servers).where(eq(servers.id, first.id))
  expect(mended).toMatchObject({ refusedRanges: [], trouble: null })
}, 120_000)
