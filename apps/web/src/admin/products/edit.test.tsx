import type { Product } from '@netlet/contract'
import { act, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { queryClient, refresh } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { answer, answerRefused, holdRefused, requestsOf } from '../../testing/answers.ts'
import { admin, pageOf } from '../../testing/shapes.ts'
import { openProducts, PATH, product, there, variant } from './products.fixture.tsx'

const AT = `${PATH}/7`
const save = () => screen.getByRole('button', { name: 'Save' })
const open = (shown: Product = product, at = AT) => {
  answer(catalog.updateProduct, shown)
  return openProducts(at, shown)
}
const dialogOf = () => screen.findByRole('dialog', { name: 'New York / 8' })
const price = (dialog: HTMLElement) => within(dialog).getByRole<HTMLInputElement>('textbox', { name: 'Price' })

describe('editing a product', () => {
  it('sends what was changed with the version that was shown', async () => {
    const { user } = open()
    const name = await screen.findByRole('textbox', { name: 'Name' })
    expect(requestsOf(catalog.products)[0]?.query).toMatchObject({ id: '7' })
    await user.type(name, ' US')
    await user.click(await screen.findByRole('checkbox', { name: 'Fast' }))
    // The platform determines the product types.
    expect(within(screen.getByRole('region', { name: 'Product types' })).getByText('Homes')).toBeTruthy()
    expect(screen.queryByRole('checkbox', { name: 'Homes' })).toBeNull()
    await user.click(save())
    expect(await screen.findByText('successfully')).toBeTruthy()
    await waitFor(() => expect(window.location.pathname).toBe(PATH))
    const [sent] = requestsOf(catalog.updateProduct)
    expect(sent?.body).toMatchObject({
      product_name: 'Residential US',
      shopify_product_id: '700',
      product_tags: [],
      version: 'v7',
      variants: [{ id: 11, variant_price: '2.20', cart_step: 8, proxy_time: 30, server_group: 1 }]
    })
    expect(sent?.body).not.toHaveProperty('product_collections')
  })

  it('takes its Chinese texts with a word for each of its options, and forgets those of options that it has no more', async () => {
    const words = { 'New York': '纽约', Gone: '没有了' }
    const { user } = open({ ...product, translations: { 'zh-CN': { name: '住宅', words } } })
    const field = (name: string) => screen.getByRole<HTMLInputElement>('textbox', { name })
    await screen.findByRole('textbox', { name: 'Name in Chinese' })
    expect([field('Name in Chinese').value, field('New York').value, field('US East').value]).toEqual([
      '住宅',
      '纽约',
      ''
    ])
    await user.type(field('Location'), '地点')
    await user.type(field('US East'), '美东')
    await user.clear(field('Name in Chinese'))
    await user.click(save())
    expect(await screen.findByText('successfully')).toBeTruthy()
    expect(requestsOf(catalog.updateProduct)[0]?.body).toMatchObject({
      product_name: 'Residential',
      translations: {
        'zh-CN': { name: '', desc: '', words: { 'New York': '纽约', Location: '地点', 'US East': '美东' } }
      }
    })
    expect(JSON.stringify(requestsOf(catalog.updateProduct)[0]?.body)).not.toContain('Gone')
  })

  it('is only looked at by those who may not change it', async () => {
    openProducts(`${AT}?variant=1100`, product, { ...admin, operator_role: 'support' })
    const name = await screen.findByRole<HTMLInputElement>('textbox', { name: 'Name' })
    expect(name.closest('fieldset')?.disabled).toBe(true)
    expect(await screen.findByText('New York / 8')).toBeTruthy()
    for (const action of ['Save', 'Edit: New York / 8', 'Delete: New York / 8'])
      expect(screen.queryByRole('button', { name: action })).toBeNull()
    expect(screen.queryByRole('dialog')).toBeNull()
  })

  it('limits what a plan gives: numbers, or nothing', async () => {
    const limited = { ...product, variants: [{ ...variant, mbps: 50, connections: 100 }] }
    const { user } = open(limited, `${AT}?variant=1100`)
    const dialog = within(await dialogOf())
    const field = (name: string) => dialog.getByRole<HTMLInputElement>('textbox', { name })
    expect(field('Speed per order (Mbit/s)').value).toBe('50')
    await user.type(field('Traffic per address and term (GB)'), 'much')
    await user.click(dialog.getByRole('button', { name: 'Apply' }))
    expect(await dialog.findByText('Must be at least 1')).toBeTruthy()
    await user.clear(field('Traffic per address and term (GB)'))
    await user.type(field('Traffic per address and term (GB)'), '20')
    await user.clear(field('Speed per order (Mbit/s)'))
    await user.click(dialog.getByRole('button', { name: 'Apply' }))
    await user.click(save())
    await waitFor(() =>
      expect(requestsOf(catalog.updateProduct)).toMatchObject([
        { body: { variants: [{ traffic_gb: 20, mbps: null, connections: 100, connections_per_second: null }] } }
      ])
    )
  })

  it('sells IPv6 with an exit of its kind; an IPv4 address has no other', async () => {
    const { user } = open(product, `${AT}?variant=1100`)
    const dialog = within(await dialogOf())
    const select = (name: string) => dialog.getByRole<HTMLSelectElement>('combobox', { name })
    expect(select('Address type').value).toBe('ipv4')
    expect(dialog.queryByRole('combobox', { name: 'Exit address' })).toBeNull()
    await user.selectOptions(select('Address type'), 'IPv6 /64')
    await user.selectOptions(select('Exit address'), 'Sticky: one address per session name')
    // The stock is requested for the family.
    await waitFor(() =>
      expect(requestsOf(catalog.groupStock).map(({ query }) => query?.['address_family'])).toContain('ipv6')
    )
    await user.selectOptions(select('Address type'), 'IPv4 address')
    await user.selectOptions(select('Address type'), 'IPv6 /64')
    expect(select('Exit address').value).toBe('fixed')
    await user.selectOptions(select('Exit address'), 'Rotating: a new address for each connection')
    await user.click(dialog.getByRole('button', { name: 'Apply' }))
    await user.click(save())
    const question = await screen.findByRole('dialog', { name: 'Save these changes?' })
    expect(question.textContent).toContain('New York / 8 will sell IPv6 /64.')
    await user.click(within(question).getByRole('button', { name: 'YES' }))
    await waitFor(() =>
      expect(requestsOf(catalog.updateProduct)).toMatchObject([
        { body: { variants: [{ address_family: 'ipv6', egress: 'request' }] } }
      ])
    )
  })

  it('says that the platform will charge another price before that is saved', async () => {
    const { user } = open(product, `${AT}?variant=1100`)
    const dialog = await dialogOf()
    await user.clear(price(dialog))
    await user.type(price(dialog), '3.30')
    await user.click(within(dialog).getByRole('button', { name: 'Apply' }))
    await user.click(save())
    const question = await screen.findByRole('dialog', { name: 'Save these changes?' })
    expect(question.textContent).toContain('New York / 8: the platform will charge $3.30 instead of $2.20.')
    expect(requestsOf(catalog.updateProduct)).toEqual([])
    await user.click(within(question).getByRole('button', { name: 'YES' }))
    await waitFor(() =>
      expect(requestsOf(catalog.updateProduct)).toMatchObject([{ body: { variants: [{ variant_price: '3.30' }] } }])
    )
  })

  it("shows the platform's words where it refuses a price, and keeps what was entered", async () => {
    const { user } = open(product, `${AT}?variant=1100`)
    answerRefused(catalog.updateProduct, 'platform_unavailable', { params: { message: 'Price is too high' } })
    const dialog = await dialogOf()
    await user.clear(price(dialog))
    await user.type(price(dialog), '999999')
    await user.click(within(dialog).getByRole('button', { name: 'Apply' }))
    await user.click(save())
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    expect((await screen.findByRole('alert')).textContent).toContain('Price is too high')
    expect(screen.getByText('$999,999.00')).toBeTruthy()
    expect(window.location.pathname).toBe(AT)
  })

  it('shows what another server group does to the stock, rule by rule, and again before it is saved', async () => {
    const { user } = open(product, `${AT}?variant=1100`)
    const dialog = await dialogOf()
    expect(within(dialog).queryByRole('table')).toBeNull()
    await user.selectOptions(within(dialog).getByRole('combobox', { name: 'Server group' }), 'West')
    const plan = await within(dialog).findByRole('table')
    expect(
      within(plan)
        .getAllByRole('row')
        .map(one => one.textContent)
    ).toEqual(['RuleNowAfter', 'Any rule, maximum6416', 'Video6416'])
    expect(within(dialog).getByText('No range in this group has a block of 8. The largest is 4.')).toBeTruthy()
    expect(within(dialog).getByText('Active orders: 3. They keep their addresses.')).toBeTruthy()
    await user.click(within(dialog).getByRole('button', { name: 'Apply' }))
    await user.click(save())
    const question = await screen.findByRole('dialog', { name: 'Save these changes?' })
    expect(question.textContent).toContain('New York / 8 sells from West. Stock 64, then 16.')
    await user.click(within(question).getByRole('button', { name: 'NO' }))
    expect(requestsOf(catalog.updateProduct)).toEqual([])
  })

  it('says what a variant that goes, or is not sold any more, means for its orders', async () => {
    const { user } = open({
      ...product,
      variants: [variant, { ...variant, id: 12, shopify_variant_id: '1200', variant_name: 'Boston' }]
    })
    await user.click(await screen.findByRole('button', { name: 'Delete: New York / 8' }))
    const first = await screen.findByRole('dialog', { name: 'Confirm deletion' })
    expect(first.textContent).toContain('Delete ? New York / 8. Active orders: 3.')
    await user.click(within(first).getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(screen.queryByText('New York / 8')).toBeNull())
    await user.click(screen.getByRole('checkbox', { name: 'Active' }))
    await user.click(save())
    const question = await screen.findByRole('dialog', { name: 'Save these changes?' })
    expect(question.textContent).toContain('The product is no longer sold. Active orders: 3.')
    expect(question.textContent).toContain('New York / 8 is deleted. Active orders: 3.')
  })

  it('merges what another user saved with what was entered', async () => {
    const { user } = open()
    const current = { ...product, product_name: 'Theirs', version: 'v8', variants: [{ ...variant, proxy_time: 14 }] }
    const refuse = holdRefused(catalog.updateProduct, 'stale', { data: { current } })
    const name = await screen.findByRole<HTMLInputElement>('textbox', { name: 'Name' })
    await user.type(name, ' mine')
    const description = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Description' })
    await user.type(description, ' mine')
    answer(catalog.products, pageOf(current))
    await user.click(save())
    await waitFor(() => expect(requestsOf(catalog.updateProduct)).toHaveLength(1))
    // Text entered during the call is kept too.
    await user.type(description, ', too')
    const typed = description.value
    act(refuse)
    const alert = await screen.findByRole('alert')
    expect(alert.textContent).toContain('This has changed since you opened it')
    expect(
      within(alert)
        .getAllByRole('listitem')
        .map(item => item.firstChild?.textContent)
    ).toEqual([
      'New York / 8, Proxy time (days): was 30, is now 14',
      'Name: you entered Residential mine, but Theirs was saved'
    ])
    expect([name.value, description.value]).toEqual(['Residential mine', typed])
    await user.click(within(alert).getByRole('button', { name: 'Use the saved value: Name' }))
    expect([name.value, description.value]).toEqual(['Theirs', typed])
    answer(catalog.updateProduct, { ...current, product_desc: typed, version: 'v9' })
    await user.click(save())
    await waitFor(() => expect(requestsOf(catalog.updateProduct)).toHaveLength(2))
    expect(requestsOf(catalog.updateProduct)[1]?.body).toMatchObject({
      product_name: 'Theirs',
      product_desc: typed,
      variants: [{ id: variant.id, proxy_time: 14 }],
      version: 'v8'
    })
  })

  it('keeps what is entered in an open variant while somebody else saves the product', async () => {
    const { user } = open(product, `${PATH}/7?variant=1100`)
    const term = await screen.findByRole<HTMLInputElement>('textbox', { name: /Proxy time/ })
    await user.clear(term)
    await user.type(term, '45')
    answer(catalog.products, pageOf({ ...product, product_name: 'Theirs', version: 'v8' }))
    await act(() => refresh(catalog.products))
    await waitFor(() => expect(queryClient.isFetching()).toBe(0))
    expect(requestsOf(catalog.products).length).toBeGreaterThan(1)
    expect(term.isConnected).toBe(true)
    expect(term.value).toBe('45')
  })

  it("mends a price that differs in place, by taking the platform's or writing ours", async () => {
    answer(catalog.takePlatformPrice, null)
    answer(catalog.writePlatformPrice, null)
    const { user } = open({ ...product, variants: [{ ...variant, price_drift: { id: 5, platform_price: '2.40' } }] })
    expect(await screen.findByText('The platform charges $2.40')).toBeTruthy()
    expect(screen.getByText('New York / 8: $2.20 here, $2.40 on the platform')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: "Use the platform's price" }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    const body = { price: '2.20', platform_price: '2.40' }
    await waitFor(() => expect(requestsOf(catalog.takePlatformPrice)).toMatchObject([{ params: { id: '5' }, body }]))
    await user.click(screen.getByRole('button', { name: "Send the shop's price to the platform" }))
    expect((await screen.findByRole('dialog')).textContent).toContain('$2.20')
    await user.click(screen.getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(catalog.writePlatformPrice)).toMatchObject([{ params: { id: '5' }, body }]))
    await user.type(screen.getByRole('textbox', { name: 'Name' }), '!')
    const off = { name: "Send the shop's price to the platform", description: 'Save your changes first.' }
    const write = screen.getByRole('button', off)
    expect(write.getAttribute('aria-disabled')).toBe('true')
    await user.click(write)
    expect(screen.queryByRole('dialog')).toBeNull()
    expect(requestsOf(catalog.writePlatformPrice)).toHaveLength(1)
  })

  it('brings variants that the platform has added', async () => {
    answer(catalog.platformProduct, there)
    const { user } = open({ ...product, old_flag: true })
    expect(await screen.findByText(/Variants were added or removed on the platform/)).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Check for new variants on the platform' }))
    expect(await screen.findByText('New variants: 1. They are added when you save the product.')).toBeTruthy()
    await user.click(save())
    await waitFor(() => expect(requestsOf(catalog.updateProduct)).toHaveLength(1))
    const [sent] = requestsOf(catalog.updateProduct)
    const { variants } = (sent?.body ?? {}) as { variants: object[] }
    expect(variants).toMatchObject([{ id: 11 }, { shopify_variant_id: '9100' }])
    expect(variants[1]).not.toHaveProperty('id')
  })

  it('is not left with changes before that was asked: by Back, or by the browser', async () => {
    const { user, goBack } = open(product, PATH)
    await user.click(await screen.findByRole('link', { name: 'Residential' }))
    const name = await screen.findByRole<HTMLInputElement>('textbox', { name: 'Name' })
    await user.type(name, ' mine')
    await user.click(screen.getByRole('button', { name: 'Back' }))
    expect(await screen.findByRole('dialog', { name: 'Discard changes?' })).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'NO' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    await goBack()
    expect(await screen.findByRole('dialog', { name: 'Discard changes?' })).toBeTruthy()
    await waitFor(() => expect(window.location.pathname).toBe(AT))
    expect(name.value).toBe('Residential mine')
    await user.click(screen.getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(window.location.pathname).toBe(PATH))
  })
})

it('what was entered in a variant is not lost by Escape', async () => {
  const { user } = open(product, `${AT}?variant=1100`)
  const dialog = await dialogOf()
  const location = within(dialog).getByRole<HTMLInputElement>('textbox', { name: 'Location' })
  await user.type(location, ' mine')
  await user.keyboard('{Escape}')
  const question = await screen.findByRole('dialog', { name: 'Discard changes?' })
  await user.click(within(question).getByRole('button', { name: 'NO' }))
  await waitFor(() => expect(screen.queryByRole('dialog', { name: 'Discard changes?' })).toBeNull())
  expect(location.isConnected && location.value).toBe('US East mine')
})

describe('a product that was edited', () => {
  it('offers no Undo where the edit settled what the platform had changed', async () => {
    const { user } = open({ ...product, old_flag: true })
    await user.type(await screen.findByRole('textbox', { name: 'Name' }), ' US')
    await user.click(save())
    expect(await screen.findByText('successfully')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull()
  })

  it('and hidden by it is shown again by Undo, with all of its former values and the new version', async () => {
    const { user } = open()
    answer(catalog.updateProduct, { ...product, active: false, version: 'v8' })
    await user.click(await screen.findByRole('checkbox', { name: 'Active' }))
    await user.click(save())
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await user.click(await screen.findByRole('button', { name: 'Undo' }))
    expect(await screen.findByText('Undone')).toBeTruthy()
    const [hidden, shown] = requestsOf(catalog.updateProduct).map(({ body }) => body as Record<string, unknown>)
    expect(hidden).toMatchObject({ active: false, version: 'v7' })
    expect(shown).toEqual({ ...hidden, active: true, version: 'v8' })
  })
})
