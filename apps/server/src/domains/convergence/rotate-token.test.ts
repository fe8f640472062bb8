import { expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { useStarted } from '../../testing/use-started.ts'
import { agentOf } from '../servers/index.ts'
import { addTestServer, audited, serverRow, startFleetShop, startTestAgent } from './fleet.fixture.ts'
import { repairServer } from './repair.ts'
import { rotateToken } from './rotate-token.ts'

const shop = useStarted(startFleetShop)
const agent = useStarted(startTestAgent)

test('a new agent token ends the former one, and whatever breaks half-way leaves one that works', async () => {
  const admin = await shop.admin()
  const id = await addTestServer(shop.ctx, 'rotated', { agent, ranges: ['127.84.1.0/24'] })
  const path = `/api/servers/servers/${id}/rotate_token/`
  const row = async () => (await serverRow(shop.ctx, id)) as Parameters<typeof agentOf>[0]
  const client = async () => agentOf(await row(), shop.ctx.secrets)
  const first = await client()
  // The console died after the agent had saved a token: the former one works, and another try succeeds.
  expect(await first.putToken('t'.repeat(40))).toEqual({ ok: true, data: { saved: true } })
  expect((await first.info()).ok).toBe(true)
  expect((await admin.post(path)).code).toBe(2000)
  expect(await first.info()).toMatchObject({ ok: false })
  const second = await client()
  expect((await second.info()).ok).toBe(true)
  expect(await repairServer(shop.ctx, id)).toMatchObject({ kind: 'compared' })
  expect(await audited(shop.ctx, 'server.rotate_token')).toHaveLength(1)

  // Twice at once: one after the other, and the stored one works.
  const both = await Promise.all([admin.post(path), admin.post(path)])
  expect(both.map(reply => reply.code)).toEqual([2000, 2000])
  expect((await second.info()).ok).toBe(false)
  expect((await (await client()).info()).ok).toBe(true)

  // The database fails after the agent has saved it: the stored one still works.
  const broken = { ...shop.ctx, now: () => new Date(Number.NaN) }
  await expect(rotateToken(broken, SYSTEM, id)).rejects.toThrow()
  expect((await (await client()).info()).ok).toBe(true)

  // An agent that is away: nothing changes, and the reply says so.
  const before = await row()
  await agent.close()
  expect((await admin.post(path)).code).toBeGreaterThanOrEqual(400)
  expect((await row()).agentToken).toEqual(before.agentToken)
})
