import type { Reference, ReferenceCall } from '@netlet/contract'
import { act, screen, within } from '@testing-library/react'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { documentation } from '../../api/routes.ts'
import { setLanguage } from '../../i18n/language.ts'
import { answer } from '../../testing/answers.ts'
import { PageFocus } from '../../app/page-focus.tsx'
import { renderAt } from '../../testing/render.tsx'
import ApiReferencePage from './page.tsx'

const list: ReferenceCall = {
  id: 'orders_list',
  domain: 'orders',
  method: 'GET',
  path: '/api/orders/order_list/',
  summary: 'Your orders',
  scope: 'read',
  reveals: false,
  path_fields: [],
  query: [{ name: 'limit', type: 'integer 1..10000 = 10', required: false }],
  body: [],
  reply: [{ name: 'data[].order_id', type: 'string', required: true }],
  example: '{ "code": 2000 }',
  samples: { curl: 'curl https://shop.test/list', python: 'print("list")', node: "await fetch('list')" }
}
const renew: ReferenceCall = {
  ...list,
  id: 'orders_renew',
  method: 'POST',
  path: '/api/orders/order_list/{id}/order-renew-checkout/',
  summary: 'Get the checkout link to renew an order',
  scope: 'renew',
  path_fields: [{ name: 'id', type: 'integer', required: true }],
  query: [],
  samples: { curl: 'curl -X POST https://shop.test/renew', python: 'print("renew")', node: "await fetch('renew')" }
}
/** A call without a translation. */
const unknown: ReferenceCall = { ...renew, id: 'orders_someNewCall', summary: 'Does something new' }
const reference: Reference = {
  url: 'https://shop.test',
  calls_a_minute: 77,
  most_rows: 10_000,
  calls: [list, renew, unknown]
}

const open = (at = '/api-reference') => {
  answer(documentation.reference, reference)
  const page = (
    <>
      <PageFocus />
      <ApiReferencePage />
    </>
  )
  return renderAt(page, { at, route: '/api-reference', user: null })
}
const call = (name: string) => within(screen.getByRole('article', { name }))

const scrolled: string[] = []
beforeEach(() => {
  scrolled.length = 0
  vi.spyOn(Element.prototype, 'scrollIntoView').mockImplementation(function (this: Element) {
    scrolled.push(this.id)
  })
})

describe('the API reference', () => {
  it('has each call with what it takes, its scope and its examples', async () => {
    const { user } = open()
    expect(await screen.findByRole('heading', { level: 1, name: 'API reference' })).toBeTruthy()
    expect(screen.getByText(/77 calls per minute/)).toBeTruthy()
    const orders = call('Your orders')
    expect(orders.getByText('Scope read')).toBeTruthy()
    expect(orders.getByRole('cell', { name: 'integer 1..10000 = 10' })).toBeTruthy()
    expect(orders.getByText('curl https://shop.test/list')).toBeTruthy()
    // The language applies to all examples.
    await user.click(orders.getByRole('tab', { name: 'Python' }))
    expect(call('Get the checkout link to renew an order').getByText('print("renew")')).toBeTruthy()
    await user.click(orders.getByRole('button', { name: 'Copy: Example in Python: Your orders' }))
    expect(await navigator.clipboard.readText()).toBe('print("list")')
    expect(call('Does something new')).toBeTruthy()
  })

  it('finds calls by words, and keeps the search in the address', async () => {
    const { user, where } = open()
    await user.type(await screen.findByRole('searchbox', { name: 'Search calls' }), 'renew post')
    expect(screen.queryByRole('article', { name: 'Your orders' })).toBeNull()
    expect(call('Get the checkout link to renew an order')).toBeTruthy()
    expect(where()).toBe('/api-reference?q=renew+post')
    expect(screen.getByRole('heading', { level: 1, name: 'API reference' })).toBeTruthy()
    expect(screen.queryByText(/77 calls per minute/)).toBeNull()
    await user.type(screen.getByRole('searchbox'), 'zzz')
    expect(screen.getByText('No calls match')).toBeTruthy()
    expect(screen.getByText('Try another word, such as proxies.')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Clear search' }))
    expect(where()).toBe('/api-reference')
    expect(document.activeElement).toBe(screen.getByRole('searchbox'))
    expect(call('Your orders')).toBeTruthy()
  })

  it('speaks the language of the page, but for what the words do not have yet', async () => {
    open()
    await screen.findByRole('article', { name: 'Your orders' })
    await act(() => setLanguage('zh-CN'))
    expect(call('您的订单').getByText('权限范围 read')).toBeTruthy()
    expect(call('Does something new')).toBeTruthy()
  })
})
