import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { catalog, orders } from '../../api/routes.ts'
import { answer, answerLost, requestsOf } from '../../testing/answers.ts'
import { openProducts, PATH, product, variant } from './products.fixture.tsx'

const row = async () => (await screen.findByRole('link', { name: 'Residential' })).closest('tr') as HTMLElement

describe('the list of products', () => {
  it('says what has to be decided', async () => {
    const drift = { id: 5, platform_price: '2.40' }
    openProducts(PATH, {
      ...product,
      valid: false,
      old_flag: true,
      variants: [
        { ...variant, price_drift: drift },
        { ...variant, id: 12, server_group: null }
      ]
    })
    expect((await row()).hasAttribute('data-problem')).toBe(true)
    for (const words of [
      'Withdrawn on the platform',
      'Variants changed on the platform',
      'Price differs: 1',
      'No server group: 1'
    ])
      expect(within(await row()).getByText(words)).toBeTruthy()
  })

  it('says of a product that the platform has it in no Online Store', async () => {
    openProducts(PATH, { ...product, valid: false, unpublished: true })
    expect(within(await row()).getByText('Not in the Online Store')).toBeTruthy()
    expect(within(await row()).queryByText('Withdrawn on the platform')).toBeNull()
  })

  it('says of a product that the platform sells by subscription only, and how many variants it ships', async () => {
    const [variant] = product.variants
    if (!variant) throw new Error('the example has no variant')
    const variants = [variant, { ...variant, id: variant.id + 1, shipped: true }]
    openProducts(PATH, { ...product, valid: false, subscription_only: true, variants })
    for (const words of ['By subscription only', 'Shipped by the platform: 1'])
      expect(within(await row()).getByText(words)).toBeTruthy()
    expect(within(await row()).queryByText('Withdrawn on the platform')).toBeNull()
  })

  it('marks a product with a variant that is shipped', async () => {
    openProducts(PATH, { ...product, variants: product.variants.map(variant => ({ ...variant, shipped: true })) })
    expect((await row()).hasAttribute('data-problem')).toBe(true)
  })

  it('says which variants the platform counts, and which are sold out there', async () => {
    const [variant] = product.variants
    if (!variant) throw new Error('the example has no variant')
    const variants = (['none', 'counted', 'counted', 'sold_out'] as const).map((platform_stock, id) => ({
      ...variant,
      id,
      platform_stock
    }))
    openProducts(PATH, { ...product, variants })
    expect((await row()).hasAttribute('data-problem')).toBe(true)
    for (const words of ['Stock tracked by the platform: 2', 'Sold out on the platform: 1'])
      expect(within(await row()).getByText(words)).toBeTruthy()
  })

  it('says that a product is sold by its link only, which is nothing to decide', async () => {
    openProducts(PATH, { ...product, unlisted: true })
    expect(within(await row()).getByText('By link only')).toBeTruthy()
    expect((await row()).hasAttribute('data-problem')).toBe(false)
  })

  it('says before a product is deleted what that means for its orders; NO changes nothing', async () => {
    answer(catalog.deleteProduct, null)
    const { user } = openProducts(PATH)
    await user.click(within(await row()).getByRole('button', { name: 'Delete: Residential' }))
    const question = await screen.findByRole('dialog', { name: 'Confirm deletion' })
    expect(question.textContent).toContain('Delete ? Residential, variants: 1. Active orders: 3.')
    expect(question.textContent).toContain('cannot be renewed')
    expect(question.textContent).toContain('Unpaid orders: 1.')
    await user.click(within(question).getByRole('button', { name: 'NO' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(requestsOf(catalog.deleteProduct)).toEqual([])
    await user.click(within(await row()).getByRole('button', { name: 'Delete: Residential' }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    expect(await screen.findByText('successfully')).toBeTruthy()
    expect(requestsOf(catalog.deleteProduct)).toMatchObject([{ params: { id: '7' } }])
  })

  it('does not delete where it cannot say what that means', async () => {
    const { user } = openProducts(PATH)
    answerLost(orders.ofProduct)
    await user.click(within(await row()).getByRole('button', { name: 'Delete: Residential' }))
    expect(await screen.findByText(/connection|reach/i)).toBeTruthy()
    expect(screen.queryByRole('dialog')).toBeNull()
  })
})
