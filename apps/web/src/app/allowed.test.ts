import type { OperatorRole } from '@netlet/contract'
import { describe, expect, it } from 'vitest'
import { admin } from '../testing/shapes.ts'
import { screens } from './manifest.ts'
import { allowedOf, isAllowed, menuOf } from './shell/menu.ts'

const as = (operator_role: OperatorRole) => ({ ...admin, operator_role })
const titles = (role: OperatorRole) =>
  allowedOf(menuOf('admin'), as(role))
    .flatMap(({ items }) => items)
    .map(({ id }) => id)

describe("the console's menu", () => {
  it('says of every screen of the console what it takes', () => {
    const open = screens.filter(({ role, permission }) => role === 'admin' && permission === undefined)
    expect(open.map(({ id }) => id)).toEqual([])
  })

  it('shows each role what it may see', () => {
    expect(titles('owner')).toEqual(
      menuOf('admin')
        .flatMap(({ items }) => items)
        .map(({ id }) => id)
    )
    expect(titles('viewer')).toContain('Orders')
    expect(titles('viewer')).not.toContain('giftcard')
  })

  it('keeps the same from being opened by its address', () => {
    expect(isAllowed('/dashboard/index/giftcard', as('viewer'))).toBe(false)
    expect(isAllowed('/dashboard/index/giftcard', as('support'))).toBe(true)
    expect(isAllowed('/dashboard/index/orders/alice', as('viewer'))).toBe(true)
  })
})
