import type { Product, ShopFigures } from '@netlet/contract'
import { act, screen, waitFor } from '@testing-library/react'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { catalog, status, support } from '../../api/routes.ts'
import { setLanguage } from '../../i18n/language.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { collection, pageOf, product as anyProduct, tag as anyTag } from '../../testing/shapes.ts'
import { More } from './more.tsx'
import { Landing } from './page.tsx'

const nothing: ShopFigures = { countries: [], addresses: 0, networks: 0, delivery_seconds: null, uptime: null }
const product = (id: number, product_name: string): Product => ({ ...anyProduct, id, product_name })
const tag = (id: number, tag_name: string) => ({ ...anyTag, id, tag_name })

beforeEach(() => {
  answer(status.figures, nothing)
  answer(catalog.products, pageOf(product(1, 'Metro ISP')))
  answer(catalog.recommended, [product(2, 'Studio ISP')])
  answer(catalog.collections, pageOf())
  answer(catalog.tags, pageOf(tag(4, 'SEO'), tag(5, 'Gaming')))
})

describe('the plans', () => {
  it('says of a shop without plans that nothing is on sale, and nothing of tags', async () => {
    answer(catalog.products, pageOf())
    answer(catalog.tags, pageOf())
    renderAt(<Landing />, { user: null })
    expect(await screen.findByText('No plans are on sale right now.')).toBeTruthy()
    expect(screen.getByRole('link', { name: 'Write to us' }).getAttribute('href')).toBe('/support#contact')
    expect(screen.queryByText(/tags you chose/)).toBeNull()
  })

  it('calls plans, tags and collections as the reader’s language does, at once when it is switched', async () => {
    const texts = (name: string, desc?: string) => ({ translations: { 'zh-CN': { name, ...(desc && { desc }) } } })
    const metro = {
      ...product(1, 'Metro ISP'),
      ...texts('都会'),
      product_tags: [{ id: 4, tag_name: 'SEO', ...texts('搜索') }],
      product_collections: [{ id: 3, collection_name: 'ISP', ...texts('宽带') }]
    }
    answer(catalog.products, pageOf<Product>(metro, product(2, 'Studio ISP')))
    answer(catalog.tags, pageOf({ ...tag(4, 'SEO'), ...texts('搜索') }))
    answer(catalog.collections, pageOf({ ...collection, ...texts('宽带', '家庭宽带') }))
    renderAt(<Landing />, { user: null })
    expect(await screen.findByRole('link', { name: 'Metro ISP' })).toBeTruthy()
    await act(() => setLanguage('zh-CN'))
    expect(screen.getByRole('link', { name: '都会' })).toBeTruthy()
    expect(screen.getByRole('link', { name: '下单: 都会' })).toBeTruthy()
    expect(screen.getByRole('button', { name: '搜索' })).toBeTruthy()
    expect(screen.getByRole('heading', { name: '宽带' })).toBeTruthy()
    expect(screen.getByText('家庭宽带')).toBeTruthy()
    expect(screen.queryByText(/Metro|SEO/)).toBeNull()
    // A name without a translation stays.
    expect(screen.getByRole('link', { name: 'Studio ISP' })).toBeTruthy()
    await act(() => setLanguage('en'))
    expect(screen.getByRole('link', { name: 'Metro ISP' })).toBeTruthy()
    expect(screen.queryByText(/都会|搜索|宽带/)).toBeNull()
  })

  it('finds plans by the tags of the address, marks them, and leaves out what is no tag', async () => {
    renderAt(<Landing />, { at: '/?tags=5,5,x,-1,0,1e3', user: null })
    expect(await screen.findByText('Studio ISP')).toBeTruthy()
    expect(requestsOf(catalog.recommended).map(({ query }) => query)).toEqual([{ tags: '5' }])
    expect(requestsOf(catalog.products)).toEqual([])
    expect((await screen.findByRole('button', { name: 'Gaming' })).getAttribute('aria-pressed')).toBe('true')
  })

  it('writes confirmed tags into the address, and Reset takes them out; what else is in it stays', async () => {
    const { user, where } = renderAt(<Landing />, { at: '/?utm=1', user: null })
    await user.click(await screen.findByRole('button', { name: 'SEO' }))
    await user.click(screen.getByRole('button', { name: 'Gaming' }))
    expect(where()).toBe('/?utm=1')
    await user.click(screen.getByRole('button', { name: 'Confirm' }))
    expect(await screen.findByText('Studio ISP')).toBeTruthy()
    expect(where()).toBe('/?utm=1&tags=4%2C5')
    expect(document.activeElement?.textContent).toBe('Confirm')
    await user.click(screen.getByRole('button', { name: 'Reset' }))
    expect(await screen.findByText('Metro ISP')).toBeTruthy()
    expect(where()).toBe('/?utm=1')
    expect(screen.getByRole('button', { name: 'SEO' }).getAttribute('aria-pressed')).toBe('false')
  })
})

describe('what the shop measures', () => {
  const figures = async () => {
    const list = (await screen.findByText('Countries')).closest('dl')
    return [...(list?.children ?? [])].map(one => [...one.children].map(part => part.textContent).toReversed())
  }

  it('shows each figure that is known, in words', async () => {
    answer(status.figures, {
      countries: [
        { code: 'US', locations: 2, names: ['New York', 'Dallas'] },
        { code: 'DE', locations: 1, names: ['Frankfurt'] },
        { code: null, locations: 1, names: ['Anywhere'] }
      ],
      addresses: 65_000,
      networks: 4000,
      delivery_seconds: 75,
      uptime: { percent: 99.98, days: 41 }
    })
    renderAt(<Landing />, { user: null })
    expect(await figures()).toEqual([
      ['2', 'Countries'],
      ['65,000+', 'IPv4 addresses in stock'],
      ['1.3 min', 'Median time from payment to working proxies, last 7 days'],
      ['99.98%', 'Uptime over the last 41 days']
    ])
    expect(screen.getByRole('link', { name: /Uptime/ }).getAttribute('href')).toBe('/status')
  })
})

it('stays calm where every call fails', async () => {
  const said = vi.spyOn(console, 'error')
  for (const route of [status.figures, catalog.collections, catalog.tags, catalog.products])
    answerRefused(route, 'internal')
  renderAt(<Landing />, { user: null })
  expect(await screen.findByRole('button', { name: 'Try again' })).toBeTruthy()
  expect(screen.getByRole('heading', { level: 1 })).toBeTruthy()
  expect(said).not.toHaveBeenCalled()
})

describe('what stands further down', () => {
  const rule = (id: number, name: string, product_count: number) => ({
    acl_id: id,
    acl_name: name,
    price: '0.25',
    domains: ['a.example', 'b.example', 'c.example', 'd.example'],
    domain_count: 9,
    product_count
  })

  beforeEach(() => {
    answer(catalog.rules, [])
    answer(support.faqs, pageOf())
  })

  it('leads from a use to the products with its rule chosen, and names no rule that nothing sells', async () => {
    answer(catalog.rules, [rule(7, 'Netflix', 3), rule(8, 'Nothing', 0)])
    renderAt(<More />, { user: null })
    const link = await screen.findByRole('link', { name: /Netflix/ })
    expect(link.getAttribute('href')).toBe('/product?acl=7')
    expect(link.textContent).toBe('Netflixa.example, b.example, c.example and 6 more+$0.25 per IPPlans: 3')
    expect(screen.queryByText('Nothing')).toBeNull()
  })

  it('leaves out what cannot be read', async () => {
    answerRefused(catalog.rules, 'internal')
    answerRefused(status.figures, 'internal')
    renderAt(<More />, { user: null })
    await waitFor(() => expect(screen.queryByRole('heading', { name: 'Plans by use' })).toBeNull())
    expect(screen.getByRole('heading', { name: 'How it works' })).toBeTruthy()
    expect(screen.queryByRole('alert')).toBeNull()
  })
})
