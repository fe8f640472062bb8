import { act, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { refresh } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { openProducts, PATH, product, there } from './products.fixture.tsx'

describe('adding a product', () => {
  it('asks the platform first, and goes back to the list where that fails before anything was entered', async () => {
    answerRefused(catalog.platformProducts, 'product_fetch_failed')
    openProducts(`${PATH}/new`)
    expect(await screen.findByText('Failed to obtain data, please try again')).toBeTruthy()
    expect(await screen.findByRole('link', { name: 'Residential' })).toBeTruthy()
    expect(window.location.pathname).toBe(PATH)
  })

  it('keeps what was entered if the platform fails later, or another operator adds the product', async () => {
    answer(catalog.platformProducts, [there])
    const { user } = openProducts(`${PATH}/new?product=900`)
    const name = await screen.findByRole<HTMLInputElement>('textbox', { name: 'Name' })
    await user.type(name, ' mine')
    const reads = () => requestsOf(catalog.platformProducts).length
    answerRefused(catalog.platformProducts, 'product_fetch_failed')
    await act(() => refresh(catalog.platformProducts))
    answer(catalog.platformProducts, [])
    await act(() => refresh(catalog.platformProducts))
    expect(reads()).toBe(3)
    expect(window.location.pathname).toBe(`${PATH}/new`)
    expect(screen.getByRole<HTMLInputElement>('textbox', { name: 'Name' }).value).toBe('Mobile mine')
  })

  it("has the platform's prices, which are not changed here, and sends what was entered", async () => {
    answer(catalog.platformProducts, [there])
    answer(catalog.createProduct, product)
    const { user } = openProducts(`${PATH}/new?product=900`)
    const name = await screen.findByRole<HTMLInputElement>('textbox', { name: 'Name' })
    expect(name.value).toBe('Mobile')
    await user.click(await screen.findByRole('checkbox', { name: 'Fast' }))
    await user.click(screen.getByRole('button', { name: 'Edit: Berlin' }))
    const dialog = await screen.findByRole('dialog', { name: 'Berlin' })
    const steps = within(dialog).getByRole<HTMLSelectElement>('combobox', { name: 'Cart step' })
    expect([...steps.options].map(option => option.value)).toEqual(['1', '8', '16', '32', '64', '128', '256'])
    expect(steps.disabled).toBe(false)
    expect(within(dialog).getByRole<HTMLInputElement>('textbox', { name: 'Price' }).readOnly).toBe(true)
    await user.selectOptions(steps, '256')
    await user.type(within(dialog).getByRole('textbox', { name: 'Location' }), 'DE')
    await user.selectOptions(within(dialog).getByRole('combobox', { name: 'Server group' }), 'East')
    const days = within(dialog).getByRole('textbox', { name: 'Proxy time (days)' })
    await user.clear(days)
    await user.click(within(dialog).getByRole('button', { name: 'Apply' }))
    expect(await within(dialog).findByText(/at least 1/)).toBeTruthy()
    await user.type(days, '7')
    await user.click(within(dialog).getByRole('button', { name: 'Apply' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    await user.click(screen.getByRole('button', { name: 'Add' }))
    expect(await screen.findByText('successfully')).toBeTruthy()
    await waitFor(() => expect(window.location.pathname).toBe(PATH))
    expect(requestsOf(catalog.createProduct)).toMatchObject([
      {
        body: {
          shopify_product_id: '900',
          product_name: 'Mobile',
          product_desc: 'Phones',
          active: true,
          product_collections: [3],
          product_tags: [8],
          variant_options: there.variant_options,
          variants: [
            {
              shopify_variant_id: '9100',
              variant_desc: 'DE',
              variant_price: '4.00',
              cart_step: 256,
              proxy_time: 7,
              is_active: true,
              server_group: 1
            }
          ]
        }
      }
    ])
  })

  it('says at the variant what the server refuses of it', async () => {
    answer(catalog.platformProducts, [there])
    const words = 'No range of this server group holds a block of this size'
    answerRefused(catalog.createProduct, 'invalid', { data: { errors: { 'variants.0.cart_step': words } } })
    const { user } = openProducts(`${PATH}/new?product=900`)
    await user.click(await screen.findByRole('button', { name: 'Add' }))
    const table = await screen.findByRole('table')
    expect(await within(table).findByText(words)).toBeTruthy()
    expect(screen.getByRole('alert').textContent).toBe(words)
  })
})
