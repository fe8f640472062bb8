import { expect, test } from './shop.ts'

// The rules of forms that only the browser can judge; all others are proved where the server enforces them.

test('Landing Confirm: at least one tag', async ({ page, shop }) => {
  await page.goto(shop.url)
  // The words of the page are there before the code that answers clicks.
  await expect(page.getByRole('row').filter({ hasText: 'Metro ISP' })).toBeVisible()
  await page.getByRole('button', { name: 'Confirm' }).click()
  await expect(page.getByText('Please select a product', { exact: true })).toBeVisible()
})

test('Q&A search: text required', async ({ page, shop }) => {
  await page.goto(`${shop.url}/support`)
  await page.getByRole('button', { name: 'Search' }).click()
  await expect(page.getByText('Please enter a question', { exact: true })).toBeVisible()
})

test('Sign-up submit: every field but the invite code', async ({ page, shop }) => {
  await page.goto(`${shop.url}/createAccount`)
  await expect(page.getByRole('heading', { name: 'Log in!' })).toBeVisible()
  await page.getByRole('button', { name: 'sign up', exact: true }).click()
  await expect(page.getByText('Please complete the form first!', { exact: true })).toBeVisible()
})
