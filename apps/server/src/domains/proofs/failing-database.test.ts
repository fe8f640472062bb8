import { eq } from '../../infra/db/drizzle.ts'
import { expect, onTestFinished, test } from 'vitest'
import type { AppContext } from '../../infra/context.ts'
import { useStarted } from '../../testing/use-started.ts'
import { startTestShop } from '../../testing/shop.ts'
import { addTestServer } from '../convergence/fleet.fixture.ts'
import { accessProofs } from './tables.ts'
import { servers } from '../servers/tables.ts'
import { proveAccess } from './prove.ts'
import { addRows } from '../../testing/rows.ts'

const world = useStarted(() => startTestShop({}))

/** A database that accepts only the first transaction, as if its disk were full after it. */
function fullAfterOne({ db }: AppContext): AppContext['db'] {
  let transactions = 0
  const transaction: AppContext['db']['transaction'] = async (work, config) => {
    if (transactions++ > 0) throw new Error('No space left on device')
    return db.transaction(work, config)
  }
  return Object.assign(Object.create(db) as AppContext['db'], { transaction })
}

test('if a try cannot be recorded, its run fails, and not the process', async () => {
  const { ctx } = world
  const serverId = await addTestServer(ctx, 'full')
  await ctx.db.update(servers).set({ status: 'given_up' }).where(eq(servers.id, serverId))
  const proof = {
    kind: 'revocation' as const,
    cause: 'removed' as const,
    orderId: 1,
    serverId,
    prefixes: [],
    nextAt: ctx.now()
  }
  await addRows(ctx, accessProofs, [
    { ...proof, username: 'one' },
    { ...proof, username: 'two' }
  ])
  const unhandled: unknown[] = []
  const note = (reason: unknown) => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  await expect(proveAccess({ ...ctx, db: fullAfterOne(ctx) }, serverId)).rejects.toThrow('No space left on device')
  expect(unhandled).toEqual([])
  world.advance(60_000)
  await proveAccess(ctx, serverId)
  const rows = await ctx.db.select().from(accessProofs).where(eq(accessProofs.serverId, serverId))
  expect(rows.map(({ state }) => state)).toEqual(['not_proved', 'not_proved'])
})
