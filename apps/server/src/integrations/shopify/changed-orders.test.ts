import { expect, test } from 'vitest'
import { readChangedOrders } from './changed-orders.ts'
import { done } from './result.ts'
import type { Execute } from './transport.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))
const odd = (minute: number) => ({ id: `gid://shopify/Order/${minute}`, updatedAt: at(minute).toISOString() })

/** A platform whose every page has one order, of the minutes given. */
const pages =
  (minutes: number[]): Execute =>
  async (_document, { after }, schema) => {
    const n = Number(after ?? 0)
    const next = n + 1 < minutes.length ? String(n + 1) : null
    return done(
      schema.parse({
        orders: { nodes: [odd(minutes[n] ?? 0)], pageInfo: { hasNextPage: next !== null, endCursor: next } }
      })
    )
  }

const read = (minutes: number[], since: Date) =>
  readChangedOrders(
    pages(minutes),
    async () => {
      throw new Error('none is whole')
    },
    since,
    2
  )

test('a reading ends after so many pages and says where to go on', async () => {
  expect(await read([1, 2, 3], at(0))).toMatchObject({ ok: true, value: { until: at(2), more: true } })
  expect(await read([2, 3], at(2))).toMatchObject({ ok: true, value: { until: at(3), more: false } })
})

test('where more orders changed at one instant than a reading has, it goes on beyond them', async () => {
  expect(await read([2, 2, 2, 2, 3, 4], at(2))).toMatchObject({ ok: true, value: { until: at(3), more: true } })
})
