import type { Page } from '@playwright/test'
import { answer, asAdmin, call, said, signedIn } from './console.ts'
import { openScreen } from './operator.ts'
import { expect, test, type RunningShop } from './shop.ts'

// Every action, message and question of the specification about access rules, their groups and address ranges.

const question = (page: Page) => page.getByRole('dialog').last()

async function openHome(page: Page, shop: RunningShop): Promise<void> {
  await asAdmin(page, shop)
  await page.goto(`${shop.url}/dashboard/index/home`)
}

async function search(page: Page, words: string): Promise<void> {
  await page.getByRole('search').getByRole('searchbox').fill(words)
  await page.getByRole('button', { name: 'Search', exact: true }).click()
}

test('ACL Management: search, Total Rules, Add Rule, Edit and Delete, in the words of the specification', async ({
  page,
  shop
}) => {
  await openHome(page, shop)
  await openScreen(page, 'Acl Manage')
  await expect(page.getByText('ACL Management')).toBeVisible()
  const total = page.getByText('Total Rules')
  await expect(total).toHaveText('Total Rules: 8')
  // A rule that no other test buys: it can be deleted.
  await search(page, 'steam')
  await expect(page.getByText('1 in total', { exact: true })).toBeVisible()
  const row = page.getByRole('row').filter({ hasText: 'Steam' })
  const variant = await row.getByText(/^\d{14}$/).innerText()
  for (const yes of ['NO', 'YES'] as const) {
    await page.getByRole('button', { name: 'Delete: Steam' }).click()
    await answer(page, 'Confirm deletion', yes, 'Delete ?', 'Steam')
    await expect(row).toHaveCount(yes === 'NO' ? 1 : 0)
  }
  await said(page, 'successfully')
  await expect(total).toHaveText('Total Rules: 7')

  await page.getByRole('button', { name: 'Add Rule' }).click()
  const form = page.getByRole('dialog')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  for (const name of ['name', 'price', 'Shopify Variant Id', 'rule', 'description'])
    await expect(form.getByText(`Please enter ${name}`)).toBeVisible()
  await form.getByRole('textbox', { name: 'Name' }).fill('Steam')
  await form.getByRole('textbox', { name: 'Price' }).fill('0.10')
  await form.getByRole('textbox', { name: 'Shopify Variant Id' }).fill(variant)
  await form.getByRole('textbox', { name: 'Rule', exact: true }).fill('steampowered.com')
  await form.getByRole('textbox', { name: 'Description' }).fill('The store')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await said(page, 'successfully')
  await expect(row).toContainText('$0.10')
  await expect(total).toHaveText('Total Rules: 8')

  await page.getByRole('button', { name: 'Edit: Steam' }).click()
  await form.getByRole('textbox', { name: 'Description' }).fill('The store, and nothing else')
  await form.getByRole('button', { name: 'Save' }).click()
  await said(page, 'successfully')
  await expect(row).toContainText('The store, and nothing else')
})

test('ACL groups: search, Add, Edit and Delete, in the words of the specification', async ({ page, shop }) => {
  await openHome(page, shop)
  await openScreen(page, 'Acl Group Manage')
  await page.getByRole('button', { name: 'Add', exact: false }).first().click()
  const form = page.getByRole('dialog')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  for (const words of ['Please enter group name', 'Please enter description', 'Please select acl'])
    await expect(form.getByText(words)).toBeVisible()
  await form.getByRole('textbox', { name: 'Name' }).fill('Walked rules')
  await form.getByRole('textbox', { name: 'Description' }).fill('For trials')
  await form.getByRole('checkbox', { name: 'Nike' }).check()
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await search(page, 'walked')
  await expect(page.getByText('1 in total', { exact: true })).toBeVisible()
  const row = page.getByRole('row').filter({ hasText: 'Walked rules' })
  await expect(row).toContainText('Nike')
  await page.getByRole('button', { name: 'Edit: Walked rules' }).click()
  await form.getByRole('checkbox', { name: 'Google' }).check()
  await form.getByRole('button', { name: 'Save' }).click()
  await expect(row).toContainText('Google')
  for (const yes of ['NO', 'YES'] as const) {
    await page.getByRole('button', { name: 'Delete: Walked rules' }).click()
    await answer(page, 'Confirm deletion', yes, 'Delete ?', 'Walked rules')
    await expect(row).toHaveCount(yes === 'NO' ? 1 : 0)
  }
})

test('CIDR list: its filters, sorting, the edit of excluded rules, and the cleaning of unused ranges', async ({
  page,
  shop
}) => {
  const admin = await signedIn(shop, 'admin')
  const form = { name: 'gone', ip: '127.0.0.78', cidr: '127.221.0.0/24' }
  const { id } = await call<{ id: number }>(admin, 'post', '/api/servers/servers/', form)
  await call(admin, 'delete', `/api/servers/servers/${id}/`)
  await admin.dispose()
  await openHome(page, shop)
  await openScreen(page, 'Cidr Manage')
  const unused = page.getByRole('row').filter({ hasText: form.cidr })
  const local = page.getByRole('row').filter({ hasText: '127.10.0.0/16' })
  await expect(unused).toBeVisible()
  await search(page, '127.221')
  await expect(local).toHaveCount(0)
  await search(page, '')
  await expect(local).toBeVisible()

  await page.getByRole('button', { name: 'Filters' }).click()
  const filter = (name: string) => page.getByRole('combobox', { name, exact: true })
  const counts = filter('Delivery count')
  await expect(counts.locator('option')).toHaveText(['Any', '=0', '>100', '>500', '>1000'])
  await counts.selectOption('=0')
  await expect(unused).toBeVisible()
  await counts.selectOption('>1000')
  await expect(unused).toHaveCount(0)
  const otherFilter = async () => {
    await page.getByRole('button', { name: /Clear filters/ }).click()
    await page.getByRole('button', { name: 'Filters', exact: true }).click()
  }
  await otherFilter()
  await filter('Server').selectOption({ label: 'Unreferenced' })
  await expect(local).toHaveCount(0)
  await expect(unused).toBeVisible()
  await filter('Server').selectOption({ label: 'Local agent' })
  await expect(unused).toHaveCount(0)
  await otherFilter()
  for (const [column, sort] of [
    ['Id', 'id'],
    ['CIDR', 'cidr'],
    ['Delivery count', 'delivery_count']
  ] as const) {
    await page.getByRole('columnheader', { name: column, exact: true }).getByRole('button').click()
    await expect(page).toHaveURL(new RegExp(`sort=-?${sort}\\b`))
  }

  await page.getByRole('button', { name: `Edit: ${form.cidr}` }).click()
  const edit = page.getByRole('dialog')
  await expect(edit.getByRole('textbox')).toHaveCount(0)
  await edit.getByRole('checkbox', { name: 'Nike' }).check()
  await edit.getByRole('button', { name: 'Save' }).click()
  await said(page, 'successfully')
  await expect(unused).toContainText('Nike')
  await filter('Excluded ACLs').selectOption({ label: 'Nike' })
  await expect(local).toHaveCount(0)
  await expect(unused).toBeVisible()
  await page.getByRole('button', { name: /Clear filters/ }).click()

  const clean = async (yes: 'YES' | 'NO') => {
    await page.getByRole('button', { name: 'Clean unused CIDR' }).click()
    await expect(page.getByRole('dialog')).toContainText(form.cidr)
    await question(page).getByRole('button', { name: yes }).click()
    await expect(page.getByRole('dialog')).toHaveCount(0)
  }
  await clean('NO')
  await expect(unused).toBeVisible()
  // The answer is cut off.
  await page.route('**/api/servers/cidrs/clean_unused/', route => route.fulfill({ status: 500, body: '' }))
  await clean('YES')
  await expect(page.getByText('清理失败')).toBeVisible()
  await page.unroute('**/api/servers/cidrs/clean_unused/')
  await page.clock.install()
  const before = await page.evaluate<number>('Date.now()')
  await clean('YES')
  const result = page.getByText(`Ranges removed: 1 (${form.cidr})`)
  await expect(result).toBeVisible()
  await expect(unused).toHaveCount(0)
  // The clock has gone on meanwhile: from here on only as far as it is told. The message came after the first of these moments.
  await page.clock.pauseAt(before + 9900)
  await expect(result).toBeVisible()
  await page.clock.runFor(12_000)
  await expect(result).toBeHidden()
})
