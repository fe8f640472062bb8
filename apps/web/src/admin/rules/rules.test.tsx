import type { AclRule, RuleCheck, RuleConflicts, RuleEffect, RuleOverlap } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { catalog, inventory } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { pageOf, rule } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import RulesPage from './page.tsx'

const ROUTE = '/dashboard/index/AclManager'

const shoes: AclRule = { ...rule, acl_value: 'nike.com\nadidas.com\npuma.com' }
const snkrs: AclRule = { ...shoes, id: 2, name: 'Sneakers', acl_value: 'shop.nike.com', version: 'v2' }

const overlap: RuleOverlap = {
  domain: 'shop.nike.com',
  within: 'nike.com',
  narrow: { id: 2, name: 'Sneakers' },
  broad: { id: 1, name: 'Shoes' },
  winner: null,
  choices: [
    {
      winner: 'narrow',
      reason: 'overlap_narrow_wins',
      params: {},
      msg: 'Only buyers of Sneakers reach shop.nike.com.'
    },
    { winner: 'broad', reason: 'overlap_broad_wins', params: {}, msg: 'Buyers of Shoes reach shop.nike.com, too.' }
  ]
}
const nothing: RuleConflicts = {
  duplicates: [],
  duplicate_total: 0,
  overlaps: [],
  overlap_total: 0,
  undecided_total: 0,
  rules: [],
  shared: []
}
const conflicts: RuleConflicts = {
  ...nothing,
  overlaps: [overlap],
  overlap_total: 1,
  undecided_total: 1,
  rules: [
    { id: 1, name: 'Shoes', orders: 3 },
    { id: 2, name: 'Sneakers', orders: 0 }
  ]
}
const effect: RuleEffect = {
  orders: 0,
  unpaid: 0,
  addresses: 0,
  free: 4096,
  added: 0,
  removed: 0,
  others: 0,
  agents: 0,
  groups: []
}
const checked = (more: Partial<RuleCheck> = {}): RuleCheck => ({ ...nothing, effect, ...more })

function open(at = ROUTE, found: RuleConflicts = nothing, rules = [snkrs, shoes]) {
  answer(inventory.platformVariant, { price: null })
  keepNothing()
  answer(inventory.rules, pageOf(...rules))
  answer(inventory.ruleConflicts, found)
  answer(catalog.priceDrift, pageOf())
  answer(inventory.checkRule, checked())
  return renderScreen(<RulesPage />, { at, route: ROUTE })
}
const rowOf = async (name: string) => (await screen.findByText(name)).closest('tr') as HTMLElement
const field = (name: RegExp) => screen.getByRole('textbox', { name })
const plan = () => screen.findByRole('region', { name: 'Effect of saving' })

describe('the access rules of the console', () => {
  it('say which rules share domains, and that this is undecided', async () => {
    open(ROUTE, conflicts)
    expect(await within(await rowOf('Sneakers')).findByText('Shoes: 1 shared, undecided')).toBeTruthy()
    expect(screen.getByText('Undecided overlaps: 1')).toBeTruthy()
  })

  it('say that the platform sells one by subscription only, or ships it', async () => {
    open(ROUTE, nothing, [
      { ...snkrs, subscription_only: true },
      { ...shoes, shipped: true }
    ])
    expect(within(await rowOf('Sneakers')).getByText(/^By subscription only/)).toBeTruthy()
    expect(within(await rowOf('Shoes')).getByText(/^Shipped by the platform/)).toBeTruthy()
  })

  it('are checked against the others while their domains are typed, and decided', async () => {
    answer(inventory.createRule, snkrs)
    const { user } = open(`${ROUTE}?form=new`)
    answer(inventory.checkRule, ({ body }) => {
      const { decisions = [] } = body as { decisions?: { winner: 'narrow' | 'broad' }[] }
      const winner = decisions[0]?.winner ?? null
      return checked({
        ...conflicts,
        overlaps: [{ ...overlap, narrow: { id: null, name: 'Trainers' }, winner }],
        effect: { ...effect, added: 1, others: 5, agents: 2 }
      })
    })
    await user.type(await screen.findByRole('textbox', { name: /^Name/ }), 'Trainers')
    await user.type(field(/^Price/), '1')
    await user.type(field(/^Shopify/), '123')
    await user.type(field(/^Description/), 'd')
    await user.type(field(/^Rule/), 'shop.nike.com')
    const region = within(await plan())
    const choice = await region.findByRole('combobox', {
      name: 'Shoes: shared domains 1, orders with addresses 3'
    })
    expect(region.getByText('New addresses in stock under this rule: 4,096.')).toBeTruthy()
    expect(region.getByText('Added domains: 1. They close for active orders without this rule: 5.')).toBeTruthy()
    expect(region.getByText('Agents that get new deny lists: 2.')).toBeTruthy()
    await user.selectOptions(choice, 'broad')
    expect(await region.findByText('Buyers of Shoes reach shop.nike.com, too.')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Add' }))
    await waitFor(() => expect(requestsOf(inventory.createRule)).toHaveLength(1))
    expect(requestsOf(inventory.createRule)[0]?.body).toMatchObject({
      acl_value: 'shop.nike.com',
      decisions: [{ rule_id: 1, winner: 'broad' }]
    })
  })

  it('take the platform’s price of the variant that is entered, or say why nothing can be sold as it', async () => {
    const { user } = open(`${ROUTE}?form=new`)
    answer(inventory.platformVariant, { price: '0.45' })
    await user.type(await screen.findByRole('textbox', { name: /^Shopify/ }), '123')
    expect(await screen.findByText(/^The platform charges \$0.45 for this variant/)).toBeTruthy()
    expect((field(/^Price/) as HTMLInputElement).value).toBe('0.45')
    answerRefused(inventory.platformVariant, 'variant_sold', { params: { name: 'Shoes' } })
    await user.type(field(/^Shopify/), '4')
    expect(await screen.findByText('Shoes already uses this variant on the platform')).toBeTruthy()
  })

  it('say which domains another rule has, before saving is refused', async () => {
    const { user } = open(`${ROUTE}?form=new`)
    answer(
      inventory.checkRule,
      checked({
        duplicates: [
          {
            domain: 'nike.com',
            rules: [
              { id: null, name: '…' },
              { id: 1, name: 'Shoes' }
            ]
          }
        ],
        duplicate_total: 1
      })
    )
    await user.type(await screen.findByRole('textbox', { name: /^Rule/ }), 'nike.com')
    expect(await within(await plan()).findByText('nike.com: Shoes')).toBeTruthy()
  })

  it('say what an edit does to live orders, and send the version that was seen', async () => {
    answer(inventory.updateRule, shoes)
    const { user } = open(`${ROUTE}?form=edit.1`)
    answer(
      inventory.checkRule,
      checked({ effect: { ...effect, orders: 14, unpaid: 2, addresses: 120, removed: 1, others: 3 } })
    )
    const domains = await screen.findByRole('textbox', { name: /^Rule/ })
    await user.clear(domains)
    await user.type(domains, 'nike.com')
    expect(
      await within(await plan()).findByText(
        /^Orders with addresses under this rule, including expired ones in the grace period: 14 \(unpaid: 2\), with 120 addresses/
      )
    ).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(requestsOf(inventory.updateRule)).toHaveLength(1))
    expect(requestsOf(inventory.updateRule)[0]?.body).toMatchObject({ acl_value: 'nike.com', version: 'v1' })
  })

  it('show the platform’s price where it is another one, and take it after a question', async () => {
    const { user } = open()
    answer(catalog.takePlatformPrice, null)
    answer(
      catalog.priceDrift,
      pageOf({
        id: 3,
        kind: 'rule',
        target_id: 1,
        name: 'Shoes',
        shopify_variant_id: '4400000001',
        price: '1.50',
        platform_price: '2.00',
        since: '2026-06-15T08:00:00.000Z'
      })
    )
    const row = within(await rowOf('Shoes'))
    expect(await row.findByRole('link', { name: 'platform: $2.00' })).toBeTruthy()
    await user.click(row.getByRole('button', { name: "Use the platform's price" }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(catalog.takePlatformPrice)).toMatchObject([{ params: { id: '3' } }]))
  })

  it('are deleted after the question that tells what it does; NO changes nothing', async () => {
    answer(inventory.ruleEffect, {
      ...effect,
      orders: 0,
      addresses: 0,
      removed: 3,
      agents: 1,
      groups: [{ id: 4, name: 'All' }]
    })
    answer(inventory.deleteRule, null)
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Delete: Shoes' }))
    const dialog = within(await screen.findByRole('dialog', { name: 'Confirm deletion' }))
    expect(dialog.getByText(/Delete \?/).textContent).toContain('Domains that open to every proxy: 3')
    expect(dialog.getByText(/These ACL groups lose the rule: All\./)).toBeTruthy()
    await user.click(dialog.getByRole('button', { name: 'NO' }))
    expect(requestsOf(inventory.deleteRule)).toEqual([])
    await user.click(screen.getByRole('button', { name: 'Delete: Shoes' }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(inventory.deleteRule)).toHaveLength(1))
  })

  it('are not deleted while orders hold addresses under them: it says how many, with no YES', async () => {
    answer(inventory.ruleEffect, { ...effect, orders: 2, addresses: 24 })
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Delete: Shoes' }))
    const told = within(await screen.findByRole('dialog', { name: 'Cannot delete Shoes now' }))
    expect(
      told.getByText(
        /^Orders with addresses under this rule, including expired ones in the grace period: 2, with 24 addresses/
      )
    ).toBeTruthy()
    expect(told.queryByRole('button', { name: 'YES' })).toBeNull()
    await user.click(told.getByRole('button', { name: 'Close' }))
    expect(requestsOf(inventory.deleteRule)).toEqual([])
  })

  it('are not deleted if the effect cannot be loaded', async () => {
    answerRefused(inventory.ruleEffect, 'not_found')
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Delete: Shoes' }))
    await waitFor(() => expect(requestsOf(inventory.ruleEffect)).toHaveLength(1))
    expect(screen.queryByRole('dialog')).toBeNull()
  })
})

describe('a rule that was edited', () => {
  const edit = async (label: RegExp, text: string) => {
    const { user } = open(`${ROUTE}?form=edit.1`)
    answer(inventory.checkRule, checked())
    answer(inventory.updateRule, { ...shoes, version: 'v9' })
    const field = await screen.findByRole('textbox', { name: label })
    await user.clear(field)
    await user.type(field, text)
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(requestsOf(inventory.updateRule)).toHaveLength(1))
    return user
  }

  it('with other domains offers no Undo: what was decided about their overlaps would not come back', async () => {
    await edit(/^Rule/, 'nike.com')
    expect(await screen.findByText('successfully')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull()
  })

  it('gets its former values back by Undo', async () => {
    const user = await edit(/^Description/, 'All shoe shops')
    await user.click(await screen.findByRole('button', { name: 'Undo' }))
    expect(await screen.findByText('Undone')).toBeTruthy()
    expect(requestsOf(inventory.updateRule).at(-1)?.body).toMatchObject({ description: 'Shoe shops', version: 'v9' })
  })
})
