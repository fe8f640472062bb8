import type { User } from '@netlet/contract'
import type { Locator, Page } from '@playwright/test'
import { answer, asAdmin, call, failing, said, signedIn } from './console.ts'
import { expect, test, type RunningShop } from './shop.ts'

const CONSOLE = '/dashboard/index'
/** No other test has codes like it. */
const unique = (prefix: string) => `${prefix}-${Date.now().toString(36).toUpperCase()}`
const rowOf = (page: Page, code: string) => page.getByRole('row').filter({ hasText: code })

async function needs(form: Locator, ...all: string[]): Promise<void> {
  for (const words of all) await expect(form.getByText(words, { exact: true })).toBeVisible()
}
async function searchFor(page: Page, words: string): Promise<void> {
  await page.getByRole('searchbox').fill(words)
  await page.getByRole('button', { name: 'Search', exact: true }).click()
}

/** The demo customer exchanges coins for a card with this code. */
async function exchanged(shop: RunningShop, code: string): Promise<void> {
  const [admin, customer] = await Promise.all([signedIn(shop, 'admin'), signedIn(shop, 'customer')])
  // An amount that no other card has.
  const card = { mount: `${(Date.now() % 900_000) + 1000}.25`, point: 1 }
  await call(admin, 'post', '/api/rewards/gift_card/', { ...card, code })
  const { username } = shop.customer
  const { data } = await call<{ data: User[] }>(admin, 'get', `/api/users/u/?search=${username}`)
  const user = data.find(one => one.username === username)
  if (!user) throw new Error('the demo customer is gone')
  const { id, email, is_superuser, version } = user
  await call(admin, 'put', `/api/users/u/${id}/`, { email, is_superuser, reward_points_change: 1, version })
  await call(customer, 'post', '/api/rewards/gift_card/exchange/', card)
  await Promise.all([admin.dispose(), customer.dispose()])
}

test('promo codes: the table, the add dialog with what it needs, and Delete with YES and NO', async ({
  page,
  shop
}) => {
  const code = unique('PROMO')
  await asAdmin(page, shop)
  await page.goto(`${shop.url}${CONSOLE}/promocode`)
  await expect(page.getByRole('heading', { name: 'Promo Code', level: 1 })).toBeVisible()
  await page.getByRole('button', { name: 'Add promo code' }).click()
  const form = page.getByRole('dialog', { name: 'Add promo code' })
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await needs(form, 'Please enter username', 'Please enter code', 'Please enter discount', 'Please select type')
  await form.getByLabel('Username').fill('nobody0')
  await form.getByLabel('Code').fill(code)
  await form.getByLabel('Discount').fill('5')
  await form.getByRole('combobox', { name: 'Type' }).selectOption('Gift')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await needs(form, 'This user does not exist')
  await form.getByLabel('Username').fill(shop.customer.username)
  await form.getByRole('combobox', { name: 'Type' }).selectOption('Discount')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await said(page, 'successfully')
  await expect(form).toBeHidden()

  for (const title of ['Id', 'Username', 'Code', 'Type', 'Discount', 'Used', 'Create time'])
    await expect(page.getByRole('columnheader', { name: title, exact: true })).toBeVisible()
  await searchFor(page, code)
  await expect(page.getByText('1 in total', { exact: true })).toBeVisible()
  for (const value of [shop.customer.username, code, 'Discount', '$5.00', 'NO'])
    await expect(rowOf(page, code).getByRole('cell', { name: value, exact: true })).toBeVisible()

  await page.getByRole('button', { name: `Delete: ${code}` }).click()
  await answer(page, 'Confirm deletion', 'NO', 'Delete ?', code)
  await expect(rowOf(page, code)).toBeVisible()
  const end = await failing(page, /\/coupon_code\/\d+\//, { method: 'DELETE', lost: true })
  await page.getByRole('button', { name: `Delete: ${code}` }).click()
  await answer(page, 'Confirm deletion', 'YES')
  await said(page, 'The shop cannot be reached. Please check your connection.')
  await end()
  await page.getByRole('button', { name: `Delete: ${code}` }).click()
  await answer(page, 'Confirm deletion', 'YES')
  await said(page, 'successfully')
  await expect(page.getByText('No promo code matches')).toBeVisible()
})

test('gift cards: amounts with $, YES and NO, ten a page, search, what the form needs, and Delete', async ({
  page,
  shop
}) => {
  const [code, taken] = [unique('CARD'), unique('TAKEN')]
  await exchanged(shop, taken)
  await asAdmin(page, shop)
  await page.goto(`${shop.url}${CONSOLE}/giftcard`)
  await expect(page.getByRole('heading', { name: 'Gift Card', level: 1 })).toBeVisible()
  await expect(page.getByRole('combobox', { name: 'Rows per page' })).toHaveValue('10')
  await searchFor(page, taken)
  await expect(rowOf(page, taken).getByRole('cell', { name: 'YES', exact: true })).toBeVisible()
  await expect(page.getByRole('button', { name: `Edit: ${taken}` })).toBeDisabled()
  await page.getByRole('button', { name: 'Add gift card' }).click()
  const add = page.getByRole('dialog', { name: 'Add gift card' })
  await add.getByRole('button', { name: 'Add', exact: true }).click()
  await needs(add, 'Please enter mount', 'Please enter code', 'Please enter point')
  await add.getByLabel('Amount').fill('12.5')
  await add.getByLabel('Code').fill(code)
  await add.getByLabel('Coins').fill('1500')
  await add.getByRole('button', { name: 'Add', exact: true }).click()
  await said(page, 'successfully')
  await searchFor(page, code)
  await expect(page.getByText('1 in total', { exact: true })).toBeVisible()
  for (const value of ['$12.50', '1,500', code, 'NO'])
    await expect(rowOf(page, code).getByRole('cell', { name: value, exact: true })).toBeVisible()
  await page.getByRole('button', { name: `Edit: ${code}` }).click()
  const edit = page.getByRole('dialog', { name: `Edit: ${code}` })
  await edit.getByLabel('Amount').fill('')
  await edit.getByRole('button', { name: 'Save' }).click()
  await needs(edit, 'Please enter mount')
  await edit.getByLabel('Amount').fill('13')
  await edit.getByRole('button', { name: 'Save' }).click()
  await said(page, 'successfully')
  await expect(rowOf(page, code)).toContainText('$13.00')
  await page.getByRole('button', { name: `Delete: ${code}` }).click()
  await answer(page, 'Confirm deletion', 'NO', 'Delete ?', code)
  await expect(rowOf(page, code)).toBeVisible()
  await page.getByRole('button', { name: `Delete: ${code}` }).click()
  await answer(page, 'Confirm deletion', 'YES')
  await said(page, 'successfully')
  await expect(page.getByText('No gift card matches')).toBeVisible()
})

test('level codes: searched, ten a page, edited only, with what the form needs', async ({ page, shop }) => {
  await asAdmin(page, shop)
  await page.goto(`${shop.url}${CONSOLE}/leveldiscount`)
  await expect(page.getByRole('heading', { name: 'Level Discount', level: 1 })).toBeVisible()
  await expect(page.getByText('5 in total', { exact: true })).toBeVisible()
  await expect(page.getByRole('combobox', { name: 'Rows per page' })).toHaveValue('10')
  await expect(page.getByRole('button', { name: /^Edit: / })).toHaveCount(5)
  await expect(page.getByRole('button', { name: /^(Delete|Add|Actions)/ })).toHaveCount(0)
  await searchFor(page, '3')
  await expect(page).toHaveURL(/search=3/)
  await page.getByRole('button', { name: 'Edit: 3 · Gold' }).click()
  const form = page.getByRole('dialog', { name: 'Edit: 3 · Gold' })
  // The level itself is no field.
  await expect(form.getByRole('textbox')).toHaveCount(3)
  const before = await Promise.all(['Discount', 'Code', 'Points'].map(label => form.getByLabel(label).inputValue()))
  for (const label of ['Discount', 'Code', 'Points']) await form.getByLabel(label).fill('')
  await form.getByRole('button', { name: 'Save' }).click()
  await needs(form, 'Please enter discount', 'Please enter code', 'Please enter point')
  const code = unique('GOLD')
  await form.getByLabel('Discount').fill('9.75')
  await form.getByLabel('Code').fill(code)
  await form.getByLabel('Points').fill(before[2] ?? '')
  await form.getByRole('button', { name: 'Save' }).click()
  await expect(rowOf(page, code)).toContainText('9.75 %')
  // The tests after this one find the level as it was.
  await page.getByRole('button', { name: 'Undo' }).click()
  await said(page, 'Undone')
  await expect(rowOf(page, before[1] ?? '-')).toBeVisible()
})
