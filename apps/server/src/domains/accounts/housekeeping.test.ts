import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY, HOUR } from '../../infra/clock.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { removeExpired } from './housekeeping.ts'
import { accountJobs, accountQueues, accountRoutes } from './index.ts'
import { captchas, chatEvents, chatPoints, emailCodes, loginFailures, oauthStates, sessions } from './tables.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({ routes: accountRoutes, queues: accountQueues, workers: accountJobs })
})
afterAll(() => shop.close())

test('what has expired goes, what still counts stays', async () => {
  const { db, now } = shop.ctx
  const live = await shop.customer()
  const at = (from: number) => new Date(now().getTime() + from)
  const token = (text: string) => Buffer.from(text)
  const userId = live.user.id
  await db.insert(sessions).values({ tokenHash: token('old'), userId, expiresAt: at(-1000) })
  const code = { email: 'a@example.com', purpose: 'register' as const, codeHash: token('c') }
  await db.insert(emailCodes).values([
    { ...code, expiresAt: at(-2 * HOUR) },
    { ...code, expiresAt: at(HOUR) }
  ])
  await db.insert(captchas).values([
    { answer: 1, expiresAt: at(-1000) },
    { answer: 2, expiresAt: at(HOUR) }
  ])
  await db.insert(loginFailures).values([
    { key: 'ip:old', at: at(-HOUR) },
    { key: 'ip:new', at: at(-1000) }
  ])
  const journey = { mode: 'login' as const, browserHash: token('b') }
  await db.insert(oauthStates).values([
    { ...journey, stateHash: token('1'), expiresAt: at(-1000) },
    { ...journey, stateHash: token('2'), expiresAt: at(HOUR) }
  ])
  await db.insert(chatEvents).values([
    { eventId: 'old', receivedAt: at(-3 * DAY) },
    { eventId: 'new', receivedAt: at(-DAY) }
  ])
  await db.insert(chatPoints).values([
    {
      userId,
      day: at(-9 * DAY)
        .toISOString()
        .slice(0, 10),
      granted: 1
    },
    { userId, day: at(0).toISOString().slice(0, 10), granted: 1 }
  ])
  await removeExpired(shop.ctx)
  const left = []
  for (const table of [sessions, emailCodes, captchas, loginFailures, oauthStates, chatEvents, chatPoints])
    left.push(await db.$count(table))
  expect(left).toEqual([1, 1, 1, 1, 1, 1, 1])
  expect((await live.get('/api/auth/login')).code).toBe(2000)
})
