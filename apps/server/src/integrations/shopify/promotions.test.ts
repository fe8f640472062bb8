import { beforeEach, expect, test } from 'vitest'
import { control, launchAlone, secrets } from '../../../../sandbox/src/testing/harness.ts'
import type { Sandbox } from '../../../../sandbox/src/sandbox.ts'
import { MINUTE } from '../../infra/clock.ts'
import { useStarted } from '../../testing/use-started.ts'
import { createShopify, differencesOf, type WantedDiscount } from './index.ts'
import type { ShopifyResult } from './result.ts'

const sandbox: Sandbox = useStarted(() => launchAlone('http://127.0.0.1:9'))

const client = () =>
  createShopify({
    shopUrl: sandbox.url,
    accessToken: secrets.accessToken,
    apiSecret: secrets.appSecret,
    sleep: async () => {}
  })
const fault = (kind: string, more: { next?: number; after?: number } = {}) =>
  control(sandbox, 'POST', '/graphql/faults', { kind, ...more })

function value<T>(result: ShopifyResult<T>): T {
  if (!result.ok) throw new Error(`${result.reason}: ${result.message}`)
  return result.value
}

beforeEach(() => fault('none'))

const NOW = new Date('2026-11-20T10:00:00Z')
const gift = (code: string, more: Partial<WantedDiscount> = {}): WantedDiscount => ({
  code,
  title: 'A gift',
  value: '12.50',
  unit: 'amount',
  uses: 1,
  oncePerCustomer: true,
  holder: 'Holder@Example.test',
  ...more
})
const found = async (code: string, holder: string | null = gift(code).holder) =>
  value(await client().discounts([{ code, holder }])).get(code)
const differences = async (wanted: WantedDiscount) => {
  const there = await found(wanted.code, wanted.holder)
  return there ? differencesOf(there, wanted) : null
}

test('a discount is created as wanted, for its holder, once', async () => {
  const wanted = gift('HELD')
  expect(await found('HELD')).toBeNull()
  expect(value(await client().createDiscount(wanted, NOW))).toBe('written')
  expect(value(await client().createDiscount(wanted, NOW))).toBe('taken')
  expect(await differences(wanted)).toEqual([])
  // The platform may write the holder's address differently.
  expect(await differences({ ...wanted, holder: 'holder@example.test' })).toEqual([])
})

test('a discount counts at once, even if our clock is five minutes ahead of the platform’s', async () => {
  const wanted = gift('AHEAD')
  value(await client().createDiscount(wanted, new Date(Date.now() + 5 * MINUTE)))
  expect(await differences(wanted)).toEqual([])
})

test('each difference is named', async () => {
  const wanted = gift('NAMED')
  await client().createDiscount(wanted, NOW)
  expect(await differences(gift('NAMED', { value: '12.51' }))).toEqual(['value'])
  expect(await differences(gift('NAMED', { unit: 'percent' }))).toEqual(['value'])
  expect(await differences(gift('NAMED', { holder: 'other@example.test' }))).toEqual(['holder'])
  expect(await differences(gift('NAMED', { holder: null, uses: null, oncePerCustomer: false }))).toEqual([
    'holder',
    'uses',
    'once'
  ])
  const there = await found('NAMED')
  if (!there) throw new Error('it was not made')
  value(await client().endDiscount(there))
  expect(await differences(wanted)).toEqual(['ended'])
})

test('an update changes it to what is wanted now, and reactivates it', async () => {
  await client().createDiscount(gift('MOVED'), NOW)
  const there = await found('MOVED')
  if (!there) throw new Error('it was not made')
  await client().endDiscount(there)
  const wanted = gift('MOVED', { value: '7.25', unit: 'percent', holder: 'next@example.test', uses: 2 })
  expect(value(await client().updateDiscount(there, wanted, new Date()))).toBe('written')
  expect(await differences(wanted)).toEqual([])
  const open = gift('MOVED', { holder: null, uses: null, oncePerCustomer: false })
  expect(value(await client().updateDiscount((await found('MOVED'))!, open, new Date()))).toBe('written')
  expect(await differences(open)).toEqual([])
})

/** What an update of a discount changes on the platform, if an operator restricted its use to `context`. */
async function changedWith(context: string, wanted: WantedDiscount) {
  await client().createDiscount(gift('LIMITED', { holder: null }), NOW)
  const there = await found('LIMITED', null)
  if (!there?.basic) throw new Error('it was not made')
  const restricted = { ...there, basic: { ...there.basic, context: { __typename: context } } }
  let sent: Record<string, unknown> = {}
  const shop = createShopify({
    shopUrl: sandbox.url,
    accessToken: secrets.accessToken,
    apiSecret: secrets.appSecret,
    async fetch(url, init) {
      if (typeof init?.body !== 'string') throw new Error('the call has no body')
      sent = (JSON.parse(init.body) as { variables: { discount: typeof sent } }).variables.discount
      return fetch(url, init)
    }
  })
  expect(value(await shop.updateDiscount(restricted, wanted, new Date()))).toBe('written')
  return sent
}

test.each(['DiscountCustomerSegments', 'DiscountMarkets'])(
  'an update of a code that an operator restricted (%s) changes neither that nor its title',
  async context => {
    const level = gift('LIMITED', { holder: null, uses: null, oncePerCustomer: false, value: '9.00', unit: 'percent' })
    const sent = await changedWith(context, level)
    expect(sent).toMatchObject({ customerGets: { value: { percentage: 0.09 } } })
    expect(Object.keys(sent)).not.toContain('context')
    expect(Object.keys(sent)).not.toContain('title')
    // A gift card has to work for anyone.
    expect(await changedWith(context, gift('LIMITED', { holder: null }))).toMatchObject({ context: { all: 'ALL' } })
  }
)

test('many codes are looked up together, and every one is answered', async () => {
  const codes = Array.from({ length: 23 }, (_, at) => (at % 5 === 0 ? 'WELCOME10' : `NONE-${at}`))
  const all = value(await client().discounts([...new Set(codes)].map(code => ({ code, holder: null }))))
  expect(all.size).toBe(new Set(codes).size)
  expect([...all].filter(([, one]) => one !== null).map(([code]) => code)).toEqual(['WELCOME10'])
})

test("the platform's refusal comes with its message", async () => {
  expect(
    await client().createDiscount(gift('WRONG', { unit: 'percent', value: '101.00', holder: null }), NOW)
  ).toMatchObject({ ok: false, reason: 'rejected', message: expect.stringContaining('between 0.0 and 1.0') as string })
  expect(await client().createDiscount(gift('WRONG', { holder: 'no address' }), NOW)).toMatchObject({
    reason: 'rejected'
  })
})

test.each(['too_many', 'throttled'])('%s: the call waits, retries, and gives up after six tries', async kind => {
  await fault(kind, { next: 3 })
  expect((await client().discounts([{ code: 'X', holder: null }])).ok).toBe(true)
  await fault(kind, { next: 10 })
  expect(await client().discounts([{ code: 'X', holder: null }])).toMatchObject({
    reason: 'throttled',
    retryable: true
  })
})

test.each(['half', 'lost'])('%s: a discount whose answer was lost exists once, as wanted', async kind => {
  const wanted = gift(`LOST-${kind}`, { holder: null })
  await fault(kind)
  expect((await client().createDiscount(wanted, NOW)).ok).toBe(false)
  expect(await differences(wanted)).toEqual([])
  expect(value(await client().createDiscount(wanted, NOW))).toBe('taken')
  const all = await control<{ code: string }[]>(sandbox, 'GET', '/discounts')
  expect(all.filter(one => one.code === wanted.code)).toHaveLength(1)
})

test('customers are read page by page and tagged; a repeat changes nothing', async () => {
  for (let n = 0; n < 101; n++) await control(sandbox, 'PATCH', `/customers/page${n}@example.test`, { tags: [] })
  const emails: (string | null | undefined)[] = []
  for (let after: string | null = null; ;) {
    const part: { nodes: { email?: string | null | undefined }[]; next: string | null } = value(
      await client().customers(after)
    )
    emails.push(...part.nodes.map(one => one.email))
    after = part.next
    if (after === null) break
  }
  expect(emails.filter(email => email?.startsWith('page'))).toHaveLength(101)
  const email = 'page7@example.test'
  const customer = async () => value(await client().customer(email))
  const id = (await customer())?.id ?? ''
  for (let n = 0; n < 2; n++) value(await client().tagCustomer(id, { add: ['a', 'b'], remove: [] }))
  value(await client().tagCustomer(id, { add: ['c'], remove: ['a', 'none'] }))
  expect((await customer())?.tags).toEqual(['b', 'c'])
  expect(value(await client().customer('nobody@example.test'))).toBeNull()
  expect(await client().tagCustomer('gid://shopify/Customer/1', { add: ['x'], remove: [] })).toMatchObject({
    reason: 'rejected'
  })
})

test.each([['defaultEmailAddress'], ['defaultEmailAddress', 'emailAddress']])(
  'an address that is withheld (%s %s) is not taken for a customer without an address',
  async (...field: string[]) => {
    const node = (id: number) => ({ id: `gid://shopify/Customer/${id}`, tags: [], defaultEmailAddress: null })
    const customers = { nodes: [node(1), node(2)], pageInfo: { hasNextPage: false, endCursor: null } }
    const path = ['customers', 'nodes', 1, ...field]
    const errors = [{ message: 'Not approved', path, extensions: { code: 'ACCESS_DENIED' } }]
    const platform = createShopify({
      shopUrl: sandbox.url,
      accessToken: secrets.accessToken,
      apiSecret: secrets.appSecret,
      fetch: async () => Response.json({ data: { customers }, errors })
    })
    expect(value(await platform.customers(null)).nodes.map(({ email }) => email)).toEqual([null, undefined])
  }
)
