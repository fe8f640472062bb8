import type { Health, PriceDrift } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { catalog, fleet, settings } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { admin, pageOf } from '../../testing/shapes.ts'
import { renderScreen } from '../kit/screen.fixture.tsx'
import HealthPage from './page.tsx'

const AT = '2026-11-22T10:00:00.000Z'
const looked = { at: AT, error: null }
const topics = ['orders/paid', 'products/update']
const platform: NonNullable<Health['platform']> = {
  configured: true,
  shop: {
    ...looked,
    name: 'My shop',
    currency: 'USD',
    expected_currency: 'USD',
    password: false,
    paused: false,
    missing_scopes: []
  },
  webhooks: {
    ...looked,
    address: 'https://shop.example.com',
    wanted: topics,
    present: topics,
    foreign: [],
    blocked: false,
    missed: 0,
    refused: [],
    strangers: null,
    signed: { at: AT, topic: 'orders/paid', by: 'present' },
    former_until: null,
    last_events: [{ topic: 'orders/paid', at: AT }]
  },
  versions: { wanted: '2026-07', replies: '2026-07', webhooks: '2026-07' },
  events: { waiting: 0, oldest_waiting: null, waits_for: null, unresolved: 0 },
  reconciliation: { ...looked, found: 0, authorized: null },
  products: looked,
  prices: { ...looked, differ: 0 },
  unpublished: { products: { count: 0, names: [] }, rules: { count: 0, names: [] } },
  subscription_only: { products: { count: 0, names: [] }, rules: { count: 0, names: [] } },
  shipped: { products: { count: 0, names: [] }, rules: { count: 0, names: [] } },
  counted: { products: { count: 0, names: [] }, rules: { count: 0, names: [] } }
}
const database = {
  bytes: 52_428_800,
  connections: 9,
  max_connections: 100,
  pool: { size: 3, idle: 2, waiting: 0 },
  recovering_since: null,
  rehearsal: null,
  secret_change: null
}
const good: Health = {
  at: AT,
  platform,
  jobs: { queues: [{ name: 'send-mail', waiting: 2, active: 1, oldest: AT, dead: 0 }] },
  servers: { total: 3, reachable: 3, unreachable: [], troubled: [], certificates: [] },
  mail: { waiting: 2, oldest: AT, failed: 0, error: null },
  database,
  http: { public_url: 'https://shop.example.com', untrusted_proxies: [] }
}
const drift: PriceDrift = {
  id: 4,
  kind: 'variant',
  target_id: 1,
  name: 'Metro ISP: New York',
  shopify_variant_id: '1',
  price: '2.20',
  platform_price: '2.75',
  since: AT
}

function open(health: Health = good, drifts: PriceDrift[] = [], as = admin) {
  answer(settings.health, health)
  answer(fleet.alarms, { alarms: [] })
  answer(fleet.proofs, { proofs: [] })
  answer(catalog.priceDrift, pageOf(...drifts))
  answer(settings.retention, [])
  return renderScreen(<HealthPage />, { as })
}
const problems = async () =>
  within(await screen.findByRole('list', { name: 'Needs attention' }))
    .getAllByRole('listitem')
    .map(item => item.textContent)

describe('the health page', () => {
  it('says that all is well, with the figures of each part', async () => {
    open()
    expect(await screen.findByText('Everything is working.')).toBeTruthy()
    expect(within(screen.getByRole('region', { name: 'E-commerce platform' })).getByText('My shop')).toBeTruthy()
    expect(within(screen.getByRole('region', { name: 'Servers' })).getByText('3 / 3')).toBeTruthy()
    expect(screen.getByText('2 waiting, 1 running, 0 failed')).toBeTruthy()
    expect(screen.getByText('50 MB')).toBeTruthy()
    expect(await screen.findByText('All prices match')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Take over webhooks' })).toBeNull()
  })

  it('says what needs attention, in words', async () => {
    open({
      ...good,
      platform: {
        ...platform,
        shop: {
          ...platform.shop,
          currency: 'VND',
          password: true,
          missing_scopes: ['write_products', 'read_publications', 'read_all_orders']
        },
        webhooks: { ...platform.webhooks, present: ['orders/paid'], missed: 3 },
        events: { waiting: 7, oldest_waiting: '2026-11-22T09:30:00.000Z', waits_for: 'no such column', unresolved: 2 },
        prices: { ...looked, differ: 1 },
        unpublished: {
          products: { count: 6, names: ['Metro', 'Harbor', 'Cargo', 'Arcade', 'Hearth'] },
          rules: { count: 1, names: ['Nike'] }
        },
        reconciliation: { ...platform.reconciliation, authorized: '#1031' },
        counted: { products: { count: 1, names: ['Depot'] }, rules: { count: 2, names: ['Adidas', 'Puma'] } },
        subscription_only: { products: { count: 1, names: ['Quay'] }, rules: { count: 0, names: [] } },
        shipped: { products: { count: 0, names: [] }, rules: { count: 1, names: ['Asics'] } }
      },
      jobs: { queues: [{ name: 'send-mail', waiting: 0, active: 0, oldest: null, dead: 5 }] },
      servers: {
        total: 3,
        reachable: 2,
        unreachable: [{ id: 1, name: 'fr-1', since: AT }],
        troubled: [{ id: 2, name: 'fr-2', since: AT, message: 'Its disk is full' }],
        certificates: [{ id: 2, name: 'fr-2', ends_at: AT, days_left: 3 }]
      },
      database: {
        ...database,
        recovering_since: '2026-03-01T04:05:06.000Z',
        rehearsal: { at: '2026-01-01T00:00:00.000Z', data_until: null, error: 'There is no backup in /backups' }
      },
      http: { public_url: 'https://shop.example.com', untrusted_proxies: [{ address: '172.17.0.1', at: AT }] }
    })
    expect(await problems()).toHaveLength(25)
    expect(screen.getByText(/^The platform sells 1 product by subscription only.*: Quay/)).toBeTruthy()
    expect(screen.getByText(/^The platform ships 1 access rule: Asics/)).toBeTruthy()
    expect(screen.getByText('Proxy certificate of fr-2').nextElementSibling?.textContent).toBe('Days left: 3')
    expect(screen.getByText('The access token lacks these permissions: write_products')).toBeTruthy()
    expect(screen.getByText(/^The platform's Online Store is password-protected.* Preferences/)).toBeTruthy()
    expect(screen.getByText(/^The payment for order #1031 is authorised but not captured/)).toBeTruthy()
    expect(screen.getByText(/^The access token lacks read_all_orders/)).toBeTruthy()
    expect(screen.getByText(/^The access token lacks read_publications/)).toBeTruthy()
    expect(screen.getByText(/^The shop was restored from a backup of 2026-03-01 04:05 UTC/)).toBeTruthy()
    expect(screen.getByText('The last backup restore test failed: There is no backup in /backups')).toBeTruthy()
    expect(screen.getByText(/^The last backup restore test was \d+ days ago\./)).toBeTruthy()
    // Each problem links to its rows.
    const to = (text: string | RegExp) => screen.getByRole('link', { name: text }).getAttribute('href')
    expect(to('Server fr-1 does not respond.')).toBe('/dashboard/index/servers?search=fr-1')
    expect(to('2 payments need a decision.')).toBe('/dashboard/index/payments?unresolved=1')
    expect(to('Reason for the delay: no such column')).toBe('/dashboard/index/payments?late=1')
    expect(to('send-mail: 5 jobs failed permanently.')).toBe('/dashboard/index/tasks?tab=dead')
    expect(to("1 price differs from the platform's.")).toBe('/dashboard/index/health#prices')
    const store = '/dashboard/index/productManager?problem=1'
    expect(to(/^6 products are not .* buy them: Metro, Harbor, Cargo, Arcade, Hearth …\. .*Online Store under/)).toBe(
      store
    )
    expect(to(/^1 access rule has .* buy it: Nike\./)).toBe('/dashboard/index/AclManager')
    expect(to(/^The platform tracks stock for 1 product and stops selling it .*: Depot\. .*Track quantity/)).toBe(store)
    expect(to(/^The platform tracks stock for 2 access rules and stops selling them .*: Adidas, Puma\./)).toBe(
      '/dashboard/index/AclManager'
    )
    expect(screen.queryByRole('link', { name: /172.17.0.1/ })).toBeNull()
  })

  it('says why webhooks were refused, whether a stranger can have sent them, and which versions differ', async () => {
    const one = { count: 1, since: AT, at: AT, topic: 'orders/paid' }
    open({
      ...good,
      platform: {
        ...platform,
        webhooks: {
          ...platform.webhooks,
          refused: [
            { ...one, kind: 'signature', certain: false },
            { ...one, count: 2, kind: 'topic', certain: true }
          ],
          strangers: { count: 1200, at: AT, domain: 'other.example.com' },
          signed: { at: AT, topic: 'orders/paid', by: 'former' },
          former_until: AT
        },
        versions: { wanted: '2026-07', replies: '2026-10', webhooks: '2027-01' }
      }
    })
    expect(await problems()).toEqual([
      expect.stringMatching(/^The shop refused 1 webhook with an invalid signature\..* sends a valid webhook\.$/),
      'The shop refused 2 webhooks because it does not use orders/paid. Remove that webhook on the platform.',
      expect.stringContaining('still signs webhooks with the previous secret'),
      'The platform uses API version 2026-10 and no longer supports 2026-07, which the shop requests. Update the shop’s software.',
      'Webhooks use API version 2027-01, but the shop reads 2026-07. Update the shop’s software, or set the app’s webhooks to 2026-07 on the platform and register them again.'
    ])
    const facts = within(screen.getByRole('region', { name: 'Webhooks' }))
    expect(facts.getByText('Requests from third parties: 1,200 (other.example.com)')).toBeTruthy()
    expect(facts.getByText('Last signed with the previous secret')).toBeTruthy()
  })

  it('links to no page that the role may not open', async () => {
    const queues = [{ name: 'send-mail', waiting: 2, active: 1, oldest: AT, dead: 5 }]
    open({ ...good, platform: { ...platform, configured: false }, jobs: { queues } }, [], {
      ...admin,
      operator_role: 'viewer'
    })
    expect(await problems()).toHaveLength(2)
    const list = screen.getByRole('list', { name: 'Needs attention' })
    expect(within(list).queryAllByRole('link')).toEqual([])
  })

  it('shows the others where one part could not be read', async () => {
    open({ ...good, platform: null, database: null })
    expect(await screen.findAllByText('Could not read this. See the log for the reason.')).toHaveLength(3)
    expect(screen.getByText('3 / 3')).toBeTruthy()
    expect(await problems()).toEqual([
      'E-commerce platform: could not read its status.',
      'Database: could not read its status.'
    ])
  })

  it('looks at the platform and reads the products again when asked', async () => {
    answer(settings.checkHealth, good)
    answer(catalog.rereadProducts, { status: 'queued' })
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Check now' }))
    expect(await screen.findByText('Checked')).toBeTruthy()
    await waitFor(() => expect(requestsOf(settings.health).length).toBeGreaterThan(1))
    await user.click(screen.getByRole('button', { name: 'Reread products' }))
    expect(await screen.findByText('Rereading all products in the background')).toBeTruthy()
    expect(requestsOf(catalog.rereadProducts)).toHaveLength(1)
  })

  it('takes webhooks over only after YES, and names both addresses before', async () => {
    answer(settings.takeOverWebhooks, { taken: ['https://old.example.com'] })
    const foreign = { ...platform.webhooks, foreign: ['https://old.example.com'], blocked: true, present: [] }
    const { user } = open({ ...good, platform: { ...platform, webhooks: foreign } })
    const button = await screen.findByRole('button', { name: 'Take over webhooks' })
    await user.click(button)
    expect(
      await screen.findByText(/to https:\/\/shop\.example\.com instead of https:\/\/old\.example\.com/)
    ).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'NO' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(requestsOf(settings.takeOverWebhooks)).toEqual([])
    await user.click(button)
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(settings.takeOverWebhooks)).toHaveLength(1))
  })

  it('lists prices that differ with both ways out, and says why one failed', async () => {
    answer(catalog.takePlatformPrice, null)
    answerRefused(catalog.writePlatformPrice, 'platform_unavailable', { params: { message: 'no such variant' } })
    const { user } = open(good, [drift])
    const row = (await screen.findByText('Metro ISP: New York')).closest('tr') as HTMLElement
    expect(within(row).getByText('$2.20')).toBeTruthy()
    expect(within(row).getByText('$2.75')).toBeTruthy()
    await user.click(within(row).getByRole('button', { name: "Send the shop's price to the platform" }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    expect(await screen.findByText('The e-commerce platform could not do this: no such variant')).toBeTruthy()
    await user.click(within(row).getByRole('button', { name: "Use the platform's price" }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(catalog.takePlatformPrice)).toMatchObject([{ params: { id: '4' } }]))
  })
})
