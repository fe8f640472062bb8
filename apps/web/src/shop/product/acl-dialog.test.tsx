import type { Product, RuleStock, VariantInfo } from '@netlet/contract'
import { screen, within, waitFor } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { catalog } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { AclDialog } from './acl-dialog.tsx'

const rule = (
  acl_id: number,
  acl_name: string,
  price: string,
  stock: number,
  domains = ['example.com']
): RuleStock => ({ acl_id, acl_name, price, stock, domains })
const rules = [rule(1, 'Video', '0.20', 400), rule(2, 'Social', '0.05', 7), rule(3, 'Shops', '0.10', 64, ['shop.test'])]
const info: VariantInfo = {
  price: '1.30',
  base_price: '1.00',
  acl_price: '0.30',
  stock: 64,
  cart_step: 8,
  local_variant_id: 4,
  shopify_variant_id: '44'
}
const options = { option1: 'New York', option2: '/29', option3: '' }

function open(chosen: number[] = [], family: 'ipv4' | 'ipv6' = 'ipv4', quantity = 8) {
  const onConfirmed = vi.fn()
  const onClose = vi.fn()
  const dialog = (
    <AclDialog
      product={{ id: 9 } as Product}
      options={options}
      family={family}
      basePrice="1.00"
      step={8}
      quantity={quantity}
      chosen={chosen}
      onClose={onClose}
      onConfirmed={onConfirmed}
    />
  )
  return { ...renderAt(dialog), onConfirmed, onClose }
}

describe('the dialog of access rules', () => {
  it('adds up what is chosen and prices it with Confirm', async () => {
    answer(catalog.ruleStock, rules)
    answer(catalog.variantInfo, info)
    const { user, onConfirmed } = open()
    await user.click(await screen.findByRole('checkbox', { name: /Video/ }))
    await user.click(screen.getByRole('checkbox', { name: /Shops/ }))
    const dialog = within(screen.getByRole('dialog'))
    expect(dialog.getByText('$1.30')).toBeTruthy()
    await user.click(dialog.getByRole('button', { name: 'Confirm' }))
    await waitFor(() => expect(onConfirmed.mock.calls).toEqual([[[1, 3], info]]))
    expect(requestsOf(catalog.variantInfo)).toMatchObject([
      { body: { product_id: 9, option_selected: { ...options, acl_selected: [1, 3] } } }
    ])
  })

  it('offers no rule that has fewer addresses than one step, even where it was chosen before', async () => {
    answer(catalog.ruleStock, rules)
    open([2])
    const social = await screen.findByRole('checkbox', { name: /Social/ })
    expect(social).toHaveProperty('disabled', true)
    expect(social).toHaveProperty('checked', false)
  })

  it('asks for a choice, without asking the server', async () => {
    answer(catalog.ruleStock, rules)
    const { user } = open()
    await screen.findByRole('checkbox', { name: /Video/ })
    await user.click(screen.getByRole('button', { name: 'Confirm' }))
    expect(await screen.findByText('Please select')).toBeTruthy()
    expect(requestsOf(catalog.variantInfo)).toEqual([])
  })

  it('finds by name and by domain, and says where nothing matches', async () => {
    answer(catalog.ruleStock, rules)
    const { user } = open()
    const search = await screen.findByRole('searchbox')
    await screen.findByRole('checkbox', { name: /Video/ })
    await user.type(search, 'SHOP.')
    expect(screen.getAllByRole('checkbox')).toHaveLength(1)
    await user.type(search, 'x')
    expect(screen.queryByRole('checkbox')).toBeNull()
  })

  it('tells what the server refuses, and reads the stock again', async () => {
    answer(catalog.ruleStock, rules)
    answerRefused(catalog.variantInfo, 'out_of_stock')
    const { user, onConfirmed } = open([1])
    await screen.findByRole('checkbox', { name: /Video/ })
    await user.click(screen.getByRole('button', { name: 'Confirm' }))
    expect((await screen.findByRole('alert')).textContent).toBe('Out of stock')
    await waitFor(() => expect(requestsOf(catalog.ruleStock)).toHaveLength(2))
    expect(onConfirmed).not.toHaveBeenCalled()
  })

  it('says which rules have fewer than is wanted, and what they have', async () => {
    answer(catalog.ruleStock, rules)
    answer(catalog.variantInfo, info)
    const { user, onConfirmed } = open([], 'ipv4', 128)
    await user.click(await screen.findByRole('checkbox', { name: /Video/ }))
    expect(screen.getByText('64 free, but you chose 128')).toBeTruthy()
    expect(screen.queryByText(/Fewer than 128 free/)).toBeNull()
    await user.click(screen.getByRole('checkbox', { name: /Shops/ }))
    expect(screen.getByText(/Fewer than 128 free: Shops \(64 free\)\./)).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Confirm' }))
    await waitFor(() => expect(onConfirmed).toHaveBeenCalledOnce())
  })

  it('stays where the rules have addresses, but none together', async () => {
    answer(catalog.ruleStock, rules)
    answer(catalog.variantInfo, { ...info, stock: 0 })
    const { user, onConfirmed } = open([1, 3])
    await screen.findByRole('checkbox', { name: /Video/ })
    await user.click(screen.getByRole('button', { name: 'Confirm' }))
    expect(await screen.findByText(/^Out of stock: no IP is free for all these rules at once/)).toBeTruthy()
    expect(onConfirmed).not.toHaveBeenCalled()
    await user.click(screen.getByRole('checkbox', { name: /Shops/ }))
    expect(screen.queryByText(/^Out of stock: no IP/)).toBeNull()
  })
})
