import { asAdmin } from './console.ts'
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

test('Changed settings: a link of the menu and Back ask, and staying keeps what was typed', async ({ page, shop }) => {
  await asAdmin(page, shop)
  await page.goto(`${shop.url}/dashboard/index/tickets`)
  await page.getByRole('link', { name: 'Web Settings' }).click()
  const field = page.getByLabel('Client id')
  await field.fill('typed')
  const question = page.getByRole('dialog', { name: 'Discard the changes?' })
  const stay = async () => {
    await question.getByRole('button', { name: 'NO' }).click()
    await expect(question).toBeHidden()
    await expect(page).toHaveURL(/WebsiteSettings/)
    await expect(field).toHaveValue('typed')
  }
  await page.getByRole('link', { name: 'Tickets' }).click()
  await stay()
  await page.goBack()
  await stay()
  await page.goBack()
  await question.getByRole('button', { name: 'YES' }).click()
  await expect(page).toHaveURL(`${shop.url}/dashboard/index/tickets`)
})

test('A changed form beside a list: Back asks, and leads out of it after YES', async ({ page, shop }) => {
  await asAdmin(page, shop)
  await page.goto(`${shop.url}/dashboard/index/QA`)
  await page
    .getByRole('button', { name: /^Edit: / })
    .first()
    .click()
  const field = page.getByRole('textbox', { name: 'Question' })
  await field.fill('typed')
  const question = page.getByRole('dialog', { name: 'Discard the changes?' })
  await page.goBack()
  await question.getByRole('button', { name: 'NO' }).click()
  await expect(question).toBeHidden()
  await expect(page).toHaveURL(/form=edit/)
  await expect(field).toHaveValue('typed')
  await page.goBack()
  await question.getByRole('button', { name: 'YES' }).click()
  await expect(page).toHaveURL(`${shop.url}/dashboard/index/QA`)
  await expect(field).toBeHidden()
})
