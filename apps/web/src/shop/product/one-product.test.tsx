import { onlineManager } from '@tanstack/react-query'
import { act, cleanup, screen, waitFor, within } from '@testing-library/react'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { queryClient } from '../../api/query.ts'
import { catalog, orders } from '../../api/routes.ts'
import { answer, answerRefused, hold, requestsOf } from '../../testing/answers.ts'
import { admin } from '../../testing/shapes.ts'
import {
  answerAll,
  info,
  onOrdered,
  open,
  openAs,
  oslo,
  placed,
  product,
  purchase,
  tab,
  variant
} from './one-product.fixture.tsx'
import { deadlineOf } from './use-purchase.ts'

beforeEach(answerAll)

describe('what a buyer sees of a plan', () => {
  it.each([
    ['ipv4', 'fixed', 'IPv4 address'],
    ['ipv6', 'fixed', 'IPv6 /64, fixed exit address'],
    ['ipv6', 'request', 'IPv6 /64, rotating exit address'],
    ['ipv6', 'session', 'IPv6 /64, sticky exit address by session']
  ] as const)('is what each address is: %s, %s', async (address_family, egress, words) => {
    open('/product?id=1', { ...variant, address_family, egress })
    expect((await screen.findByText('IP type')).nextSibling?.textContent).toBe(words)
  })

  it('is what it limits, that the rest is not limited, and TLS to the proxies where all of its servers offer that', async () => {
    open('/product?id=1', { ...variant, traffic_gb: null, https: true })
    expect((await screen.findByText('Traffic per IP and term')).nextSibling?.textContent).toBe('Unlimited')
    expect(screen.getByText('Speed').nextSibling?.textContent).toBe('100 Mbit/s')
    expect(screen.getByText('New connections per second').nextSibling?.textContent).toBe('20')
    expect(screen.getByText(/^HTTPS proxy:/)).toBeTruthy()
    cleanup()
    queryClient.clear()
    open('/product?id=1', variant)
    expect(await screen.findByText(/HTTP, HTTPS and SOCKS5/)).toBeTruthy()
    expect(screen.queryByText(/^HTTPS proxy:/)).toBeNull()
  })

  it('is that an IP may serve other customers, in what is included and in the order', async () => {
    open('/product?id=1', variant)
    for (const name of ['What is included', 'Your order']) {
      const part = await screen.findByRole('region', { name })
      expect(part.textContent, name).toMatch(/Other customers may use the same IPs? under other access rules\./)
    }
  })

  it('is where the addresses are, with their stock, and which other plans are like it', async () => {
    const other = (id: number, product_name: string, variant_stock: number) => ({
      ...product({ ...variant, variant_stock }),
      id,
      product_name
    })
    answer(catalog.recommended, [other(1, 'Residential', 8), other(2, 'Leased out', 0), other(3, 'Free', 8)])
    open('/product?id=1', variant, oslo)
    const places = within(await screen.findByRole('region', { name: 'Locations' })).getAllByRole('listitem')
    expect(places.map(place => place.textContent)).toEqual(['Paris France64 available', 'Oslo NorwayOut of stock'])
    const others = within(await screen.findByRole('region', { name: 'Similar plans' }))
    expect(others.getAllByRole('link').map(link => link.textContent)).toEqual(['Free', 'Leased out'])
  })

  it('is each price by quantity and rules, exactly', async () => {
    open('/product?id=1&o1=Paris&acl=1,2&q=16', variant)
    const table = await screen.findByRole('table')
    await waitFor(() => expect(table.textContent).toContain('Your rules'))
    const rows = within(table)
      .getAllByRole('row')
      .map(row => [...row.children].map(cell => cell.textContent))
    expect(rows).toEqual([
      ['IPs', 'One rule, from$1.15 per IP', 'Your rules$1.35 per IP', 'All rules$1.35 per IP'],
      ['8', '$9.20', '$10.80', '$10.80'],
      ['16', '$18.40', '$21.60', '$21.60'],
      ['32', '$36.80', '$43.20', '$43.20'],
      ['64', '$73.60', '$86.40', '$86.40']
    ])
    expect(within(table).getByRole('row', { current: true }).textContent).toMatch(/^16/)
  })
})

describe('the choice and the address', () => {
  it('writes what is chosen, and keeps the rest', async () => {
    const { user, where } = open('/product?parId=3&id=1', variant, { ...oslo, variant_stock: 8 })
    await user.click(await screen.findByRole('radio', { name: 'Oslo' }))
    await waitFor(() => expect(where()).toBe('/product?parId=3&id=1&o1=Oslo'))
    await user.click(screen.getByRole('radio', { name: 'Paris' }))
    await user.click(screen.getByRole('button', { name: '32' }))
    await waitFor(() => expect(where()).toBe('/product?parId=3&id=1&o1=Paris&q=32'))
    await user.click(screen.getByRole('button', { name: 'Fewer' }))
    await user.click(screen.getByRole('button', { name: 'Fewer' }))
    await waitFor(() => expect(where()).toBe('/product?parId=3&id=1&o1=Paris&q=16'))
  })

  it('begins with what it says, and prices it again', async () => {
    open('/product?id=1&o1=Paris&acl=1,2&q=16', variant, { ...oslo, variant_stock: 8 })
    const chips = within(await screen.findByRole('list', { name: 'Your access rules' }))
    await waitFor(() =>
      expect(chips.getAllByRole('listitem').map(chip => chip.textContent)).toEqual(['Video +$0.20', 'Social +$0.05'])
    )
    expect(await screen.findByText('16 × $1.35')).toBeTruthy()
    expect(screen.getByRole('radio', { name: 'Paris' }).closest('fieldset')).toHaveProperty('disabled', true)
  })

  it('takes what is not sold for what is', async () => {
    open('/product?id=1&o1=Atlantis&acl=x&q=-4', variant)
    expect(await screen.findByRole('radio', { name: 'Paris' })).toHaveProperty('checked', true)
    expect(screen.getByRole('textbox')).toHaveProperty('value', '8')
    expect(screen.getByRole('button', { name: 'Select rules' })).toBeTruthy()
    // Without rules there is no price to pay.
    expect(screen.getByText(/^8 × \$[\d.]+, plus rules$/)).toBeTruthy()
  })

  it('forgets rules that are not on sale any more, and says so', async () => {
    answerRefused(catalog.variantInfo, 'unknown_rule')
    const { where } = open('/product?id=1&o1=Paris&acl=77&q=16', variant)
    expect(await screen.findByText(/no longer sold/)).toBeTruthy()
    await waitFor(() => expect(where()).toBe('/product?id=1&o1=Paris&q=16'))
  })

  it('keeps rules that a busy server did not price, and asks again', async () => {
    answerRefused(catalog.variantInfo, 'unavailable')
    const { user, where } = open('/product?id=1&acl=1,2&q=16', variant)
    const again = await screen.findByRole('button', { name: 'Try again' })
    expect(where()).toBe('/product?id=1&acl=1,2&q=16')
    answer(catalog.variantInfo, info(16))
    await user.click(again)
    expect(await screen.findByText('16 × $1.35')).toBeTruthy()
  })

  it('lowers a quantity to what there is, and says so', async () => {
    open('/product?id=1&acl=1,2&q=64', variant)
    expect(await screen.findByText('You chose 64. 16 IPs are free for all these rules together.')).toBeTruthy()
    expect(screen.getByRole('textbox')).toHaveProperty('value', '16')
  })

  it('counts what would be ordered while a quantity is typed, also in wide digits', async () => {
    const { user } = open('/product?id=1&acl=1,2&q=16', variant)
    expect(await screen.findByText('16 × $1.35')).toBeTruthy()
    const box = screen.getByRole('textbox')
    await user.clear(box)
    expect(screen.getByText('16 × $1.35')).toBeTruthy()
    await user.type(box, '８')
    expect(await screen.findByText('8 × $1.35')).toBeTruthy()
    // The total uses whole steps; the field keeps what was typed until blur.
    await user.clear(box)
    await user.type(box, '12')
    expect(await screen.findByText('16 × $1.35')).toBeTruthy()
    expect(box).toHaveProperty('value', '12')
    await user.clear(box)
    await user.type(box, '9,999')
    expect(await screen.findByText('You chose 9,999. 16 IPs are free for all these rules together.')).toBeTruthy()
    expect(screen.getByText('16 × $1.35')).toBeTruthy()
    await user.tab()
    expect(box).toHaveProperty('value', '16')
  })

  it('cannot be ordered where one step is more than an order can have, and says so', async () => {
    answer(orders.limits, { addresses: 4 })
    open('/product?id=1&q=64', variant)
    expect(await screen.findByText('An order can have at most 4 IPs, and this plan is sold 8 at a time.')).toBeTruthy()
    const button = await purchase()
    expect(button).toHaveProperty('disabled', true)
    const described = document.getElementById(button.getAttribute('aria-describedby') ?? '')
    expect(described?.textContent).toMatch(/^An order can have at most 4/)
    expect(screen.queryByText(/^You chose/)).toBeNull()
  })

  it('offers no more than one order can have, and says so', async () => {
    answer(orders.limits, { addresses: 30 })
    const { user } = open('/product?id=1&q=64', variant)
    expect(await screen.findByText('You chose 64. An order can have at most 30 IPs.')).toBeTruthy()
    const box = screen.getByRole('textbox')
    expect(box).toHaveProperty('value', '24')
    const offered = within(screen.getByRole('group', { name: 'Common quantities' })).getAllByRole('button')
    expect(offered.map(button => button.textContent)).toEqual(['8', '16'])
    expect(screen.getByRole('button', { name: 'More' })).toHaveProperty('disabled', true)
    await user.clear(box)
    await user.type(box, '8.5{Enter}')
    expect(box).toHaveProperty('value', '8')
    expect(screen.queryByText(/^You chose/)).toBeNull()
    await user.clear(box)
    await user.type(box, '1,000{Enter}')
    expect(box).toHaveProperty('value', '24')
    expect(await screen.findByText('You chose 1,000. An order can have at most 30 IPs.')).toBeTruthy()
  })
})

describe('what cannot be had', () => {
  it('is a product that was withdrawn: others are a step away', async () => {
    open('/product?id=1&acl=7', { ...variant, is_active: false })
    expect(await screen.findByText('This product is not on sale')).toBeTruthy()
    const links = screen.getAllByRole('link', { name: 'All products' })
    expect(links.map(link => link.getAttribute('href'))).toEqual(['/product?acl=7', '/product?acl=7'])
  })

  it('is not ordered, and no dialog opens', async () => {
    const { user } = open('/product?id=1', { ...variant, variant_stock: 0 })
    const button = await purchase()
    expect(button).toHaveProperty('disabled', true)
    expect(document.getElementById(button.getAttribute('aria-describedby') ?? '')?.textContent).toBe('Out of stock')
    expect(screen.getByText('All IPs of this plan are leased right now.')).toBeTruthy()
    const select = screen.getByRole('button', { name: 'Select rules' })
    expect(select).toHaveProperty('disabled', true)
    await user.click(button)
    await user.click(select)
    expect(screen.queryByRole('dialog')).toBeNull()
    expect(requestsOf(catalog.ruleStock)).toEqual([])
  })

  it('is marked among the options, and another one can be had', async () => {
    const { user } = open('/product?id=1', variant, oslo)
    await user.click(await screen.findByRole('radio', { name: 'Oslo Out of stock' }))
    expect(await purchase()).toHaveProperty('disabled', true)
    expect(screen.getByText('No IPs are free for this option. Other options have some.')).toBeTruthy()
    await user.click(screen.getByRole('radio', { name: 'Paris' }))
    expect(await purchase()).toHaveProperty('disabled', false)
  })

  it('is a combination of rules without a common address', async () => {
    answer(catalog.variantInfo, info(0))
    open('/product?id=1&acl=1,2', variant)
    await waitFor(async () => expect(await purchase()).toHaveProperty('disabled', true))
    expect(screen.getByText(/no IP is free for all these rules at once/)).toBeTruthy()
  })
})

describe('an order', () => {
  const at = '/product?id=1&o1=Paris&acl=1,2&q=16'
  const ready = () => screen.findByText('16 × $1.35')

  it('is placed once, and led to its payment with what was bought', async () => {
    vi.spyOn(window, 'open').mockReturnValue(tab as unknown as Window)
    const expires_at = '2026-05-15T12:30:00Z'
    const arrive = hold(orders.checkout)
    const { user } = open(at, variant)
    await ready()
    await user.dblClick(await purchase())
    // A choice made during the call does not affect this order.
    await user.click(screen.getByRole('button', { name: 'Fewer' }))
    await waitFor(() => expect(screen.queryByText('16 × $1.35')).toBeNull())
    arrive({ ...placed, expires_at })
    await waitFor(() => expect(onOrdered).toHaveBeenCalledOnce())
    expect(requestsOf(orders.checkout)).toMatchObject([
      { body: { product_id: 1, quantity: 16, option_selected: { option1: 'Paris', acl_selected: [1, 2] } } }
    ])
    expect(onOrdered.mock.calls[0]?.[0]).toMatchObject({
      blocked: false,
      pending: {
        id: 7,
        bought: {
          product_name: 'Residential',
          variant_name: 'Paris',
          acl_names: ['Video', 'Social'],
          quantity: 16,
          // The server's price, not the page's.
          amount: '24.00'
        }
      }
    })
    expect(tab.location.replace).toHaveBeenCalledWith('https://pay.example.com/1')
  })

  it('is placed also where the browser lets no tab open', async () => {
    vi.spyOn(window, 'open').mockReturnValue(null)
    answer(orders.checkout, { ...placed, expires_at: '2026-05-15T12:30:00Z' })
    const { user } = open(at, variant)
    await ready()
    await user.click(await purchase())
    await waitFor(() => expect(onOrdered.mock.calls[0]?.[0]).toMatchObject({ blocked: true }))
  })

  it.each([
    [[{ acl_id: 2, acl_name: 'Social', stock: 8 }], 8, 'Out of stock: Social (8 free)'],
    [[], 8, 'Out of stock: 8 IPs are free for all these rules together.']
  ])('that is refused says what is short', async (short, stock, words) => {
    vi.spyOn(window, 'open').mockReturnValue(tab as unknown as Window)
    answerRefused(orders.checkout, 'out_of_stock', { data: { short, stock } })
    const { user } = open(at, variant)
    await ready()
    await user.click(await purchase())
    expect((await screen.findByRole('alert')).textContent).toBe(words)
    expect(tab.close).toHaveBeenCalled()
    await user.click(screen.getByRole('button', { name: 'Fewer' }))
    await waitFor(() => expect(screen.queryByRole('alert')).toBeNull())
  })

  it('is none of an administrator’s: they are told to use another account', async () => {
    vi.spyOn(window, 'open').mockReturnValue(tab as unknown as Window)
    answerRefused(orders.checkout, 'admin_purchase')
    const { user } = openAs(admin, at, variant)
    await ready()
    await user.click(await purchase())
    const words = 'Admin accounts cannot make purchases. Please use a regular account.'
    expect((await screen.findByRole('alert')).textContent).toBe(words)
    expect(tab.close).toHaveBeenCalled()
    expect(onOrdered).not.toHaveBeenCalled()
  })

  it('is not placed offline: neither now nor when there is a connection again', async () => {
    const opened = vi.spyOn(window, 'open')
    const { user } = open(at, variant)
    await ready()
    act(() => onlineManager.setOnline(false))
    await user.click(await purchase())
    expect((await screen.findByRole('alert')).textContent).toMatch(/^Failed to create order: You are offline/)
    act(() => onlineManager.setOnline(true))
    await queryClient.resumePausedMutations()
    expect(opened).not.toHaveBeenCalled()
    expect(requestsOf(orders.checkout)).toEqual([])
  })
})

describe('when an order is to be paid', () => {
  const now = Date.parse('2026-06-15T08:00:00Z')
  const at = (minutes: number) => new Date(now + minutes * 60_000).toISOString()
  it('is when the server says', () => expect(deadlineOf(at(29), now - 120_000, now)).toBe(now + 29 * 60_000))
  it('is at most 30 minutes from now, whatever the clocks say', () =>
    expect(deadlineOf(at(300), now - 1000, now)).toBe(now + 30 * 60_000))
  it('is at least 30 minutes after it was asked for', () =>
    expect(deadlineOf(at(-300), now - 1000, now)).toBe(now - 1000 + 30 * 60_000))
})
