import type { Product } from '@netlet/contract'
import { screen } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { renderAt } from '../../testing/render.tsx'
import { customer } from '../../testing/shapes.ts'
import { OrderBox } from './order-box.tsx'

const variant: Product['variants'][number] = {
  id: 1,
  variant_name: 'Paris',
  variant_desc: '',
  variant_stock: 100,
  cart_step: 8,
  variant_price: '1.10',
  is_active: true,
  variant_option1: 'Paris',
  variant_option2: null,
  variant_option3: null,
  server_group: null,
  proxy_time: 30,
  address_family: 'ipv4',
  egress: 'fixed',
  traffic_gb: 50,
  mbps: 100,
  connections: null,
  connections_per_second: 20,
  shopify_variant_id: '1',
  price_drift: null
}
const product = (limits: Partial<typeof variant> = {}): Product => ({
  id: 1,
  active: true,
  valid: true,
  old_flag: false,
  product_name: 'Residential',
  shopify_product_id: '1',
  product_desc: '',
  image_url: null,
  lower_price: '1.10',
  product_collections: [],
  product_tags: [],
  variant_options: [{ option_name: 'Place', option_values: [{ option_value: 'Paris' }] }],
  variants: [{ ...variant, ...limits }],
  created_at: '2026-06-15T08:00:00.000Z',
  version: 'v1'
})
const open = (of: Product) => renderAt(<OrderBox product={of} onOrdered={() => {}} />, { user: customer })

describe('what a buyer is told of the addresses', () => {
  it.each([
    ['ipv4', 'fixed', 'IPv4 address'],
    ['ipv6', 'fixed', 'IPv6 /64, fixed exit address'],
    ['ipv6', 'request', 'IPv6 /64, rotating exit address'],
    ['ipv6', 'session', 'IPv6 /64, sticky exit address by session']
  ] as const)('%s, %s', async (address_family, egress, words) => {
    open(product({ address_family, egress }))
    expect((await screen.findByText('Each address')).nextSibling?.textContent).toBe(words)
  })
})

describe('what a buyer is told of limits', () => {
  it('is what the plan limits', async () => {
    open(product())
    expect((await screen.findByText('Traffic per IP and term')).nextSibling?.textContent).toBe('50 GB')
    expect(screen.getByText('Speed').nextSibling?.textContent).toBe('100 Mbit/s')
    expect(screen.getByText('New connections a second').nextSibling?.textContent).toBe('20')
    expect(screen.queryByText('Connections at once')).toBeNull()
  })

  it('is nothing where nothing is limited', async () => {
    open(product({ traffic_gb: null, mbps: null, connections_per_second: null }))
    expect(await screen.findByText('30 days')).toBeTruthy()
    expect(screen.queryByText('Speed')).toBeNull()
  })
})
