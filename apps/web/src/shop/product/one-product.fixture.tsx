import type { Product, RuleStock, Variant, VariantInfo } from '@netlet/contract'
import { screen } from '@testing-library/react'
import { vi } from 'vitest'
import { catalog, orders, rewards } from '../../api/routes.ts'
import { answer } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer, pageOf, product as anyProduct, variant as anyVariant } from '../../testing/shapes.ts'
import { OneProduct } from './one-product.tsx'

export const variant: Variant = { ...anyVariant, traffic_gb: 50, mbps: 100, connections_per_second: 20 }
export const oslo: Variant = { ...variant, id: 2, variant_name: 'Oslo', variant_option1: 'Oslo', variant_stock: 0 }
export const product = (...variants: Variant[]): Product => ({
  ...anyProduct,
  product_tags: [{ id: 5, tag_name: 'Social' }],
  variant_options: [{ option_name: 'Place', option_values: [{ option_value: 'Paris' }, { option_value: 'Oslo' }] }],
  variants
})
const rule = (acl_id: number, acl_name: string, price: string, stock: number): RuleStock => ({
  acl_id,
  acl_name,
  price,
  stock,
  domains: []
})
const rules = [rule(1, 'Video', '0.20', 64), rule(2, 'Social', '0.05', 16), rule(3, 'Gone', '9.00', 0)]
export const info = (stock: number, acl_price = '0.25'): VariantInfo => ({
  price: (1.1 + Number(acl_price)).toFixed(2),
  base_price: '1.10',
  acl_price,
  stock,
  cart_step: 8,
  local_variant_id: 1,
  shopify_variant_id: '1'
})

export const open = (at: string, ...variants: Variant[]) => openAs(customer, at, ...variants)
export function openAs(user: typeof customer, at: string, ...variants: Variant[]) {
  answer(catalog.products, pageOf(product(...variants)))
  return renderAt(<OneProduct id={1} collection={undefined} onOrdered={onOrdered} />, { at, user })
}
export const onOrdered = vi.fn()
export const tab = {
  opener: null,
  closed: false,
  close: vi.fn(),
  location: { replace: vi.fn() },
  document: document.implementation.createHTMLDocument()
}

/** Default answers for a product's page. */
export function answerAll(): void {
  answer(orders.limits, { addresses: 1024 })
  answer(orders.list, pageOf())
  answer(rewards.levelDiscount, null)
  answer(catalog.ruleStock, rules)
  answer(catalog.recommended, [])
  answer(catalog.variantInfo, info(16))
  onOrdered.mockReset()
}

export const purchase = () => screen.findByRole('button', { name: 'Purchase' })

export const placed = {
  checkout_url: 'https://pay.example.com/1',
  id: 7,
  order_id: 'NL-7',
  expires_at: '',
  amount: '24.00',
  discount: null
}
