import type { OfferedRule, Product, Variant } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { beforeEach, describe, expect, it } from 'vitest'
import { catalog } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { collection, pageOf, product as anyProduct, variant as anyVariant } from '../../testing/shapes.ts'
import { amountIn, offersOf, placesOf, type ProductFilters } from './filter-products.ts'
import ProductPage from './page.tsx'

const rule = (acl_id: number, acl_name: string, price: string): OfferedRule => ({
  acl_id,
  acl_name,
  price,
  domains: [],
  domain_count: 0,
  product_count: 1
})
const offered = [rule(7, 'Netflix', '0.25'), rule(9, 'Nike', '1.00')]

let variants = 0
/** A plan in a place; without rules it is sold out. */
const plan = (place: string, variant_price: string, acl_ids: number[], from_price: string | null): Variant => ({
  ...anyVariant,
  id: (variants += 1),
  variant_option1: place,
  variant_price,
  acl_ids,
  from_price
})
const product = (id: number, product_name: string, ...plans: Variant[]): Product => ({
  ...anyProduct,
  id,
  product_name,
  lower_price: '1.00',
  created_at: `2026-0${id}-01T00:00:00.000Z`,
  variant_options: [
    {
      option_name: 'Location',
      option_values: [...new Set(plans.map(one => one.variant_option1 ?? ''))].map(option_value => ({ option_value }))
    }
  ],
  variants: plans
})

const metro = product(1, 'Metro', plan('New York', '2.00', [7, 9], '2.25'), plan('Paris', '3.00', [9], '4.00'))
const rural = product(2, 'Rural', plan('Paris', '1.00', [7], '1.25'), plan('Farm 3', '1.00', [7], '1.25'))
const gone = product(3, 'Gone', plan('Tokyo', '1.00', [], null))
const all = [metro, rural, gone]

describe('products', () => {
  const none: ProductFilters = { place: '', rules: [], most: '', sort: 'featured' }
  const found = (filters: Partial<ProductFilters>) =>
    offersOf(all, { ...none, ...filters }, { offered, language: 'en' }).map(
      ({ product, price }) => `${product.product_name} ${price}`
    )

  it('cost what their cheapest plan costs with a rule, of those that match', () => {
    expect(found({})).toEqual(['Metro 2.25', 'Rural 1.25', 'Gone null'])
    expect(found({ place: 'FR' })).toEqual(['Metro 4.00', 'Rural 1.25'])
    expect(found({ place: 'Farm 3' })).toEqual(['Rural 1.25'])
    expect(found({ rules: [9] })).toEqual(['Metro 3.00'])
    expect(found({ rules: [7, 9] })).toEqual(['Metro 3.25'])
    // Each plan fulfils all filters by itself.
    expect(found({ place: 'FR', rules: [7] })).toEqual(['Rural 1.25'])
    expect(found({ place: 'FR', most: '3.99' })).toEqual(['Rural 1.25'])
    expect(found({ most: '2.25' })).toEqual(['Metro 2.25', 'Rural 1.25'])
    expect(found({ most: '1.2' })).toEqual([])
    expect(found({ rules: [404] })).toEqual([])
    expect(found({ place: 'DE' })).toEqual([])
  })

  it('are sorted by price, those that are sold out last, by age or by name', () => {
    expect(found({ sort: 'price' })).toEqual(['Rural 1.25', 'Metro 2.25', 'Gone null'])
    expect(found({ sort: 'newest' })).toEqual(['Gone null', 'Rural 1.25', 'Metro 2.25'])
    expect(found({ sort: 'name' })).toEqual(['Gone null', 'Metro 2.25', 'Rural 1.25'])
  })

  it('have places, which are called as the language does', () => {
    const labels = (language: 'en' | 'zh-CN') => placesOf(all, language).map(({ value, label }) => `${value} ${label}`)
    expect(labels('en')).toEqual(['Farm 3 Farm 3', 'FR France', 'JP Japan', 'US United States'])
    expect(labels('zh-CN')).toContain('FR 法国')
  })

  it.each([
    ['2', '2'],
    [' 2,50 ', '2.50'],
    ['-1', ''],
    ['2.555', ''],
    ['1e3', ''],
    ['', '']
  ])('take an amount from %j as %j', (typed, amount) => expect(amountIn(typed)).toBe(amount))
})

describe('the list', () => {
  beforeEach(() => {
    answer(catalog.collections, pageOf({ ...collection, id: 3, collection_name: 'ISP' }))
    answer(catalog.products, pageOf<Product>(...all))
    answer(catalog.rules, offered)
    answer(catalog.occupancy, { cells: [] })
  })
  const shown = () =>
    within(screen.getByRole('list', { name: 'Product' }))
      .getAllByRole('heading')
      .map(one => one.textContent)

  it('is filtered and sorted by the address, and each choice is a step back', async () => {
    const { user, where, goBack } = renderAt(<ProductPage />, { at: '/product', user: null })
    expect(await screen.findByText('3 products')).toBeTruthy()
    await user.selectOptions(screen.getByRole('combobox', { name: 'Location' }), 'France')
    await user.selectOptions(screen.getByRole('combobox', { name: 'Sort by' }), 'Lowest price')
    expect(where()).toBe('/product?place=FR&sort=price')
    expect(shown()).toEqual(['Rural', 'Metro'])
    expect(screen.getByText('2 products').getAttribute('role')).toBe('status')
    expect(screen.getByText('$4.00').nextElementSibling?.textContent).toBe('per IP with 1 rule')
    // A collection keeps them.
    expect(screen.getByRole('link', { name: /ISP/ }).getAttribute('href')).toBe('/product?place=FR&sort=price&parId=3')

    await user.selectOptions(await screen.findByRole('combobox', { name: 'Access rule' }), 'Nike')
    expect(where()).toBe('/product?place=FR&sort=price&acl=9')
    expect(shown()).toEqual(['Metro'])
    expect(screen.getByText('$4.00').nextElementSibling?.textContent).toBe('per IP with your rules')
    // The product's page offers the same rule.
    expect(screen.getByRole('link', { name: 'Metro' }).getAttribute('href')).toBe('/product?id=1&acl=9')
    goBack()
    await waitFor(() => expect(shown()).toEqual(['Rural', 'Metro']))
    // All without another call.
    expect(requestsOf(catalog.products)).toHaveLength(1)
  })

  it('that is empty for a price says so and is cleared, with the focus at the filters', async () => {
    const { user, where } = renderAt(<ProductPage />, { at: '/product?parId=3', user: null })
    await screen.findByText('3 products')
    await user.type(screen.getByRole('textbox', { name: 'Highest price per IP' }), '0,50')
    expect(screen.getByText('3 products')).toBeTruthy()
    await user.keyboard('{Enter}')
    expect(where()).toBe('/product?parId=3&most=0.50')
    const none = (await screen.findByText('No products match')).parentElement
    await user.click(within(none ?? document.body).getByRole('button', { name: 'Clear filters' }))
    expect(where()).toBe('/product?parId=3')
    expect(await screen.findByText('3 products')).toBeTruthy()
    expect(document.activeElement).toBe(screen.getByRole('combobox', { name: 'Sort by' }))
  })

  it.each(['most=free&sort=stock', 'acl=0,x&most=-1'])('ignores values that it does not offer: %s', async text => {
    renderAt(<ProductPage />, { at: `/product?${text}`, user: null })
    expect(await screen.findByText('3 products')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Clear filters' })).toBeNull()
  })

  it('of a large shop grows on request, which the address keeps, and the focus goes on at what was added', async () => {
    const many = Array.from({ length: 60 }, (_, n) => ({ ...rural, id: n + 1, product_name: `Plan ${n + 1}` }))
    answer(catalog.products, pageOf<Product>(...many))
    const { user, where } = renderAt(<ProductPage />, { at: '/product', user: null })
    expect(await screen.findByText('60 products')).toBeTruthy()
    expect(shown()).toHaveLength(48)
    await user.click(screen.getByRole('button', { name: 'Show more (12)' }))
    expect(shown()).toHaveLength(60)
    expect(where()).toBe('/product?n=96')
    expect(document.activeElement).toBe(screen.getByRole('link', { name: 'Plan 49' }))
    expect(screen.queryByRole('button', { name: /^Show more/ })).toBeNull()
    await user.selectOptions(screen.getByRole('combobox', { name: 'Sort by' }), 'Newest')
    expect(where()).toBe('/product?sort=newest')
  })

  it('shows of what is sold out the price without rules', async () => {
    answer(catalog.products, pageOf<Product>(gone))
    renderAt(<ProductPage />, { at: '/product', user: null })
    expect((await screen.findByText('$1.00')).nextElementSibling?.textContent).toBe('per IP, plus rules')
  })
})
