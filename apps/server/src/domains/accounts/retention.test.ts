import { expect, test } from 'vitest'
import { DAY, HOUR } from '../../infra/clock.ts'
import { startTestShop } from '../../testing/shop.ts'
import { applyRetention } from '../retention/figures.ts'
import { accountRetention } from './index.ts'
import { dayOf } from './api-key-use.ts'
import { apiKeyNetworks, apiKeys, captchas, emailCodes, loginFailures, oauthStates, sessions } from './tables.ts'
import { accountRoutesWithPorts } from './accounts.fixture.ts'
import { useStarted } from '../../testing/use-started.ts'
import { addRow, addRows } from '../../testing/rows.ts'

const shop = useStarted(() => startTestShop({ routes: accountRoutesWithPorts }))

test('what has expired goes, what still counts stays', async () => {
  const { db, now } = shop.ctx
  const live = await shop.customer()
  const at = (from: number) => new Date(now().getTime() + from)
  const token = (text: string) => Buffer.from(text)
  const userId = live.user.id
  await addRow(shop.ctx, sessions, { tokenHash: token('old'), userId, expiresAt: at(-1000) })
  const code = { email: 'a@example.com', purpose: 'register' as const, codeHash: token('c') }
  await addRows(shop.ctx, emailCodes, [
    { ...code, expiresAt: at(-25 * HOUR) },
    { ...code, expiresAt: at(-23 * HOUR) }
  ])
  await addRows(shop.ctx, captchas, [
    { answer: 1, expiresAt: at(-1000) },
    { answer: 2, expiresAt: at(HOUR) }
  ])
  await db.insert(loginFailures).values([
    { key: 'ip:old', at: at(-HOUR) },
    { key: 'ip:new', at: at(-1000) }
  ])
  const state = { mode: 'login' as const, browserHash: token('b') }
  await addRows(shop.ctx, oauthStates, [
    { ...state, stateHash: token('1'), expiresAt: at(-1000) },
    { ...state, stateHash: token('2'), expiresAt: at(HOUR) }
  ])
  const key = { userId, name: 'k', keyHash: token('k'), hint: 'k', scopes: ['read'] }
  const { id: keyId } = await addRow(shop.ctx, apiKeys, key)
  const used = (days: number) => ({ firstUsedAt: at(-days * DAY), lastUsedOn: dayOf(at(-days * DAY)) })
  await db.insert(apiKeyNetworks).values([
    { keyId, network: '192.0.2.1', ...used(91) },
    { keyId, network: '192.0.2.2', ...used(89) }
  ])
  await applyRetention(shop.ctx, accountRetention)
  const left = []
  for (const table of [sessions, emailCodes, captchas, loginFailures, oauthStates, apiKeyNetworks])
    left.push(await db.$count(table))
  expect(left).toEqual([1, 1, 1, 1, 1, 1])
  expect((await live.get('/api/auth/login')).code).toBe(2000)
})
