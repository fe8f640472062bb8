import type { Page } from '@netlet/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { coupons } from '../domains/rewards/tables.ts'
import { HOLDER, KINDS, type Row } from './edited-kinds.fixture.ts'
import { startStockedShop, type Buyer, type StockedShop } from './stocked-shop.fixture.ts'
import { addRow } from '../testing/rows.ts'

let shop: StockedShop
let admin: Buyer

beforeAll(async () => {
  shop = await startStockedShop()
  admin = await shop.admin()
  const holder = await shop.customer({ username: HOLDER })
  await addRow(shop.ctx, coupons, { holderId: holder.user.id, code: 'SPRING', codeType: 1, discount: '1.00' })
  await admin.post('/api/rewards/level_code/', { level: 1, discount: '0.00', code: 'L1', point: 100 })
  await admin.post('/api/servers/acl-groups/', { name: 'all', description: 'All of them', acls: shop.rules })
})
afterAll(() => shop?.close())

describe.each(KINDS)('one $name of its list', ({ path, which = {} }) => {
  const read = async (query: string) => (await admin.get<Page<Row>>(`${path}?${query}`)).data.data

  test('is found by its id, wherever it stands', async () => {
    const rows = await read('limit=100')
    const row = rows.find(one => Object.entries(which).every(([name, value]) => one[name] === value))
    expect(row).toBeDefined()
    expect(await read(`id=${row?.id}&limit=1`)).toEqual([row])
  })

  test.each([999_999, 2_147_483_647, 999_999_999_999_999])('is none where there is no %i', async id => {
    expect(await read(`id=${id}&limit=1`)).toEqual([])
  })
})

test.each(['/api/products/product_tags/', '/api/products/product_collections/', '/api/tickets/fqa/'])(
  '%s: what was deleted is not found',
  async path => {
    const [row] = (await admin.get<Page<Row>>(`${path}?limit=1`)).data.data
    expect((await admin.delete(`${path}${row?.id}/`)).code).toBe(2000)
    expect((await admin.get<Page<Row>>(`${path}?id=${row?.id}`)).data.data).toEqual([])
  }
)
