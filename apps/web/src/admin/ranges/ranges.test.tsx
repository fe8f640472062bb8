import type { Cidr, Occupancy } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { beforeEach, describe, expect, it } from 'vitest'
import { fleet, inventory } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { pageOf, range as anyRange, rule } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import RangesPage from './page.tsx'

const ROUTE = '/dashboard/index/CIDRManage'
const range = (id: number, delivery_count: number): Cidr => ({
  ...anyRange,
  id,
  cidr: `10.0.${id}.0/24`,
  delivery_count,
  version: `v${id}`
})
const usage = { leased: 0, held: 0, resting: 0, blocked: 0, free: 1 }
const picture: Occupancy = {
  cidr: '10.0.1.0/24',
  server: { id: 1, name: 'edge' },
  part: '10.0.1.0/24',
  units: 4096,
  block_units: 16,
  rule: null,
  blocks: Array.from({ length: 256 }, (_, nth) => ({
    part: `10.0.${Math.floor(nth / 16)}.${(nth % 16) * 16}/28`,
    ...usage,
    ...(nth === 1 ? { leased: 12, held: 2, resting: 1, free: 1 } : { free: 16 })
  })),
  rules: [
    { id: 1, name: 'Shoes', excluded: false, ...usage, leased: 12, free: 4084 },
    { id: 2, name: 'News', excluded: true, ...usage, held: 2, free: 4094 }
  ]
}

beforeEach(() => {
  keepNothing()
  answer(inventory.cidrs, pageOf(range(1, 1001), range(2, 501), range(3, 101), range(4, 100)))
  answer(inventory.rules, pageOf({ ...rule, id: 1, name: 'Shoes' }, { ...rule, id: 2, name: 'News' }))
  answer(fleet.serverNames, pageOf())
  answer(fleet.groups, pageOf())
})
const open = (at = ROUTE) => renderScreen(<RangesPage />, { at, route: ROUTE })

describe('the address ranges of the console', () => {
  it('are coloured by how many addresses were delivered, and highlighted over 1000', async () => {
    open()
    await screen.findByText('10.0.4.0/24')
    const rows = [1, 2, 3, 4].map(id => screen.getByText(`10.0.${id}.0/24`).closest('tr'))
    expect(rows.map(row => row?.querySelector<HTMLElement>('[data-tone]')?.dataset['tone'])).toEqual([
      'over',
      'warning',
      'success',
      'info'
    ])
    expect(rows.map(row => row?.hasAttribute('data-problem'))).toEqual([true, false, false, false])
  })

  it.each([
    ['Delivery count', '0', { delivery_count_exact: '0' }],
    ['Delivery count', '500', { delivery_count_min: '500' }],
    ['Excluded ACLs', '2', { exclude_acl: '2' }],
    ['Server', 'none', { unreferenced: '1' }]
  ])('are filtered by %s = %s', async (label, value, asked) => {
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Filters' }))
    const select = await screen.findByRole('combobox', { name: label })
    await waitFor(() => expect([...(select as HTMLSelectElement).options].map(one => one.value)).toContain(value))
    await user.selectOptions(select, value)
    await waitFor(() => expect(requestsOf(inventory.cidrs).at(-1)?.query).toMatchObject(asked))
  })

  it('are edited in their excluded rules only, and say before what that does', async () => {
    answer(inventory.cidrEffect, ({ body }) => {
      const { exclude_acl } = body as { exclude_acl: number[] }
      return {
        sells: true,
        excluded: exclude_acl.map(id => ({ id, name: 'Shoes', free: 4024, leased: 72, orders: 2 })),
        allowed: [],
        orders: exclude_acl.length > 0 ? 2 : 0
      }
    })
    answer(inventory.updateCidr, range(1, 1001))
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Edit: 10.0.1.0/24' }))
    const dialog = within(await screen.findByRole('dialog', { name: 'Edit: 10.0.1.0/24' }))
    expect(dialog.queryByRole('textbox')).toBeNull()
    expect(await dialog.findByText('No changes.')).toBeTruthy()
    await user.click(await dialog.findByRole('checkbox', { name: 'Shoes' }))
    expect(
      await dialog.findByText(
        'Shoes: free addresses that leave the stock: 4,024. Leased ones that stay until their orders end: 72 (orders: 2).'
      )
    ).toBeTruthy()
    await user.click(dialog.getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(requestsOf(inventory.updateCidr)).toHaveLength(1))
    expect(requestsOf(inventory.updateCidr)[0]?.body).toEqual({ exclude_acl: [1], version: 'v1' })
  })
})

describe('cleaning unused ranges', () => {
  const ranges = (count: number) =>
    Array.from({ length: count }, (_, nth) => ({ id: nth + 1, cidr: `10.0.${nth + 1}.0/24` }))
  beforeEach(() => answer(inventory.unusedCidrs, { count: 7, cidrs: ranges(7), plan: 'these' }))
  const clean = async (user: ReturnType<typeof open>['user'], answered: 'YES' | 'NO') => {
    await user.click(await screen.findByRole('button', { name: 'Clean unused CIDR' }))
    await user.click(await screen.findByRole('button', { name: answered }))
  }

  it('asks before; NO changes nothing', async () => {
    const { user } = open()
    await clean(user, 'NO')
    expect(requestsOf(inventory.unusedCidrs)).toMatchObject([{ query: { include_soft_deleted: 'true' } }])
    expect(requestsOf(inventory.cleanUnusedCidrs)).toEqual([])
  })

  it('names in the question which ranges go, and how many', async () => {
    answer(inventory.unusedCidrs, { count: 431, cidrs: ranges(200), plan: 'these' })
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Clean unused CIDR' }))
    const question = await screen.findByRole('dialog', { name: 'Clean unused CIDR' })
    expect(question.textContent).toMatch(
      /Ranges to remove: 431 \(10\.0\.1\.0\/24, .*10\.0\.20\.0\/24 and 411 more\)\. They have no server/
    )
    expect(screen.getByRole('button', { name: 'YES' })).toHaveProperty('disabled', true)
    await user.type(await screen.findByRole('textbox', { name: /^Type / }), '431')
    expect(screen.getByRole('button', { name: 'YES' })).toHaveProperty('disabled', false)
  })

  it('asks nothing and cleans nothing where no range is unused', async () => {
    answer(inventory.unusedCidrs, { count: 0, cidrs: [], plan: 'none' })
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Clean unused CIDR' }))
    expect(await screen.findByText('No unused ranges found.')).toBeTruthy()
    expect(screen.queryByRole('dialog')).toBeNull()
    expect(requestsOf(inventory.cleanUnusedCidrs)).toEqual([])
  })

  it('removes nothing where other ranges would go than those that were agreed to', async () => {
    answerRefused(inventory.cleanUnusedCidrs, 'stale')
    const { user } = open()
    await clean(user, 'YES')
    expect(
      await screen.findByText('This has changed since you opened it. Please review it and try again.')
    ).toBeTruthy()
  })

  it('says how many ranges went, and sends the plan that was agreed to', async () => {
    const results = { deleted_count: 7, cidr_details: ranges(7) }
    answer(inventory.cleanUnusedCidrs, { results, ...results })
    const { user } = open()
    await clean(user, 'YES')
    expect(await screen.findByText(/^Removed ranges: 7 /)).toBeTruthy()
    expect(requestsOf(inventory.cleanUnusedCidrs)[0]?.body).toEqual({ include_soft_deleted: true, plan: 'these' })
  })
})

describe('the occupancy of a range', () => {
  const occupied = () => {
    answer(inventory.cidrBlocks, ({ query }) => ({
      ...picture,
      ...(query['rule'] ? { rule: { id: 2, name: 'News' } } : {}),
      ...(query['part'] ? { part: query['part'] } : {})
    }))
    return open(`${ROUTE}?detail=1`)
  }

  it('is a picture that is read by keyboard and in words, with the figures by rule beside it', async () => {
    const { user } = occupied()
    const grid = within(await screen.findByRole('grid', { name: 'Blocks in 10.0.1.0/24' }))
    expect(grid.getAllByRole('gridcell')).toHaveLength(256)
    const second = grid.getByRole('gridcell', { name: '10.0.0.16/28: Leased 12, Reserved 2, Resting 1, Free 1' })
    grid.getAllByRole('gridcell')[0]?.focus()
    await user.keyboard('{ArrowRight}')
    expect(document.activeElement).toBe(second)
    await user.keyboard('{ArrowDown}')
    expect(document.activeElement?.getAttribute('aria-label')).toBe('10.0.1.16/28: Free 16')
    await user.keyboard('{Home}{ArrowLeft}')
    expect(grid.getAllByRole('gridcell')[0]).toBe(document.activeElement)
    const row = screen.getByRole('row', { name: /^Shoes/ })
    expect(
      within(row)
        .getAllByRole('cell')
        .map(cell => cell.textContent)
    ).toEqual(['12', '0', '0', '0', '4,084'])
  })
})
