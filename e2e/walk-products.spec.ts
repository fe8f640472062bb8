import type { Page } from '@playwright/test'
import { answer, asAdmin, endSyncs, failing, said } from './console.ts'
import { expect, test, type RunningShop } from './shop.ts'

const CONSOLE = '/dashboard/index'
/** No other test has products like it. */
const unique = (prefix: string) => `${prefix} ${Date.now().toString(36)}`
const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })

async function onPlatform(shop: RunningShop, path: string, body: object): Promise<void> {
  const reply = await fetch(`${shop.platformUrl}/sandbox/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  expect(reply.ok, path).toBe(true)
}

const addedThere = (shop: RunningShop, title: string, tags: string[] = []) =>
  onPlatform(shop, 'products', {
    title,
    descriptionHtml: '<p>Walked through</p>',
    tags,
    optionNames: ['Location', 'Block'],
    variants: [{ options: ['New York', 'Block of 8'], price: '4.00' }]
  })

/** While it lasts the platform answers nothing but errors. */
const platformFails = (shop: RunningShop) => onPlatform(shop, 'graphql/faults', { kind: 'error500', next: 100 })
const platformAnswers = (shop: RunningShop) => onPlatform(shop, 'graphql/faults', { kind: 'none' })

test('products: Add fetches first, and leads back to the list where that fails', async ({ page, shop }) => {
  await asAdmin(page, shop)
  await page.goto(`${shop.url}${CONSOLE}/productManager`)
  await expect(page.getByRole('heading', { name: 'Product Manage', level: 1 })).toBeVisible()
  await platformFails(shop)
  try {
    await page.getByRole('link', { name: 'Add product' }).click()
    await said(page, 'Failed to obtain data, please try again')
  } finally {
    await platformAnswers(shop)
  }
  await expect(page).toHaveURL(`${shop.url}${CONSOLE}/productManager`)
  const add = page.getByRole('link', { name: 'Add product' })
  const end = await failing(page, /\/get_product_from_shopify\//, { lost: true })
  await add.click()
  await said(page, 'Failed to obtain data, please try again')
  await end()
  await expect(page).toHaveURL(`${shop.url}${CONSOLE}/productManager`)
  await expect(add).toBeVisible()
})

test('products: one is added, edited and deleted, with its variants in a table and a dialog', async ({
  page,
  shop
}) => {
  const name = unique('Walk')
  await addedThere(shop, name)
  await asAdmin(page, shop)
  await page.goto(`${shop.url}${CONSOLE}/productManager/new`)
  await page.getByRole('button', { name: `Choose: ${name}` }).click()
  await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toHaveValue(name)
  const variants = page.getByRole('region', { name: 'Variants' })
  const variant = 'New York / Block of 8'
  for (const title of [
    'Variant',
    'Location',
    'Stock',
    'Cart step',
    'Price',
    'Active',
    'Server group',
    'Proxy time (days)'
  ])
    await expect(variants.getByRole('columnheader', { name: title, exact: true })).toBeVisible()
  await variants.getByRole('button', { name: `Edit: ${variant}` }).click()
  const dialog = page.getByRole('dialog', { name: variant })
  const field = (label: string) => dialog.getByRole('textbox', { name: label, exact: true })
  const step = dialog.getByRole('combobox', { name: 'Cart step' })
  await expect(field('Stock')).not.toBeEditable()
  await expect(field('Price')).not.toBeEditable()
  await expect(step).toBeEnabled()
  expect(await step.getByRole('option').allInnerTexts()).toEqual(['1', '8', '16', '32', '64', '128', '256'])
  await step.selectOption('8')
  await field('Proxy time (days)').fill('0')
  await dialog.getByRole('combobox', { name: 'Server group' }).selectOption({ index: 1 })
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await expect(dialog.getByText('Must be at least 1')).toBeVisible()
  await field('Proxy time (days)').fill('7')
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await expect(dialog).toBeHidden()
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await said(page, 'successfully')
  await expect(page).toHaveURL(`${shop.url}${CONSOLE}/productManager`)
  await expect(rowOf(page, name)).toContainText('$4.00')

  await rowOf(page, name)
    .getByRole('button', { name: `Edit: ${name}` })
    .click()
  await variants.getByRole('button', { name: `Edit: ${variant}` }).click()
  await expect(field('Cart step')).not.toBeEditable()
  await expect(field('Cart step')).toHaveValue('8')
  await expect(field('Stock')).not.toBeEditable()
  await expect(field('Stock')).not.toHaveValue('–')
  await expect(field('Price')).toBeEnabled()
  await field('Price').fill('4.50')
  await field('Location').fill('US')
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const priced = `${variant}: the platform will charge $4.50 instead of $4.00.`
  await answer(page, 'Save these changes?', 'NO', priced)
  await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toHaveValue(name)
  await platformFails(shop)
  try {
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await answer(page, 'Save these changes?', 'YES', priced)
    await expect(page.getByRole('alert')).toContainText('The e-commerce platform did not do this')
  } finally {
    await platformAnswers(shop)
  }
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await answer(page, 'Save these changes?', 'YES', priced)
  await said(page, 'successfully')
  await expect(rowOf(page, name)).toContainText('$4.50')

  const remove = rowOf(page, name).getByRole('button', { name: `Delete: ${name}` })
  await remove.click()
  await answer(page, 'Confirm deletion', 'NO', 'Delete ?', name)
  await expect(remove).toBeVisible()
  await remove.click()
  await answer(page, 'Confirm deletion', 'YES')
  await said(page, 'successfully')
  await expect(rowOf(page, name)).toHaveCount(0)
})

test('product types: name and description, edit, delete, and back from the platform by a sync', async ({
  page,
  shop
}) => {
  await endSyncs(shop)
  const [name, text] = ['Static Residential', `Walked ${Date.now()}`]
  await asAdmin(page, shop)
  await page.goto(`${shop.url}${CONSOLE}/productType`)
  await expect(page.getByRole('heading', { name: 'Product Type', level: 1 })).toBeVisible()
  for (const title of ['Name', 'Description'])
    await expect(page.getByRole('columnheader', { name: title, exact: true })).toBeVisible()
  await expect(page.getByRole('combobox', { name: 'Rows per page' })).toHaveValue('10')
  await page.getByRole('button', { name: `Edit: ${name}` }).click()
  const form = page.getByRole('dialog', { name: `Edit: ${name}` })
  await form.getByRole('textbox', { name: 'Name', exact: true }).fill('')
  await form.getByRole('button', { name: 'Save' }).click()
  await expect(form.getByText('Please enter the collection name')).toBeVisible()
  await form.getByRole('textbox', { name: 'Name', exact: true }).fill(name)
  await form.getByRole('textbox', { name: 'Description', exact: true }).fill(text)
  await form.getByRole('button', { name: 'Save' }).click()
  await said(page, 'successfully')
  await expect(rowOf(page, name)).toContainText(text)

  const remove = page.getByRole('button', { name: `Delete: ${name}` })
  await remove.click()
  await answer(page, 'Confirm deletion', 'NO', 'Delete ?', name)
  await expect(rowOf(page, name)).toBeVisible()
  await remove.click()
  await answer(page, 'Confirm deletion', 'YES')
  await said(page, 'successfully')
  await expect(rowOf(page, name)).toHaveCount(0)
  await synchronise(page, 'Take the product types from the platform', `New${name}`)
  await expect(rowOf(page, name)).toBeVisible()
  // What was edited here is kept through it.
  await expect(rowOf(page, name)).toContainText(text)
})

test('product tags: none without a name, edit, delete, and a sync that is looked at before and may fail', async ({
  page,
  shop
}) => {
  await endSyncs(shop)
  const tag = unique('Tag')
  await addedThere(shop, unique('Tagged'), [tag, ''])
  await asAdmin(page, shop)
  await page.goto(`${shop.url}${CONSOLE}/productTag`)
  await expect(page.getByRole('heading', { name: 'Product Tag', level: 1 })).toBeVisible()
  await platformFails(shop)
  const sync = page.getByRole('dialog', { name: 'Take the tags from the platform' })
  try {
    await page.getByRole('button', { name: 'Synchronise' }).click()
    await expect(sync.getByRole('alert')).toBeVisible()
    await expect(sync.getByRole('button', { name: 'Apply' })).toHaveCount(0)
  } finally {
    await platformAnswers(shop)
  }
  await sync.getByRole('button', { name: 'Try again' }).click()
  await expect(sync.getByRole('list', { name: 'Changes' })).toContainText(`New${tag}`)
  await sync.getByRole('button', { name: 'Cancel' }).click()
  await expect(rowOf(page, tag)).toHaveCount(0)
  await synchronise(page, 'Take the tags from the platform', `New${tag}`)

  await page.goto(`${shop.url}${CONSOLE}/productTag?search=${encodeURIComponent(tag)}`)
  await page.getByRole('button', { name: `Edit: ${tag}` }).click()
  const form = page.getByRole('dialog', { name: `Edit: ${tag}` })
  await form.getByRole('textbox', { name: 'Name', exact: true }).fill('')
  await form.getByRole('button', { name: 'Save' }).click()
  await expect(form.getByText('Please enter the tag name')).toBeVisible()
  await form.getByRole('textbox', { name: 'Name', exact: true }).fill(tag)
  await form.getByRole('textbox', { name: 'Description', exact: true }).fill('Walked')
  await form.getByRole('button', { name: 'Save' }).click()
  await said(page, 'successfully')
  await expect(rowOf(page, tag)).toContainText('Walked')
  const remove = page.getByRole('button', { name: `Delete: ${tag}` })
  await remove.click()
  await answer(page, 'Confirm deletion', 'NO', 'Delete ?', tag)
  await expect(remove).toBeVisible()
  await remove.click()
  await answer(page, 'Confirm deletion', 'YES')
  await said(page, 'successfully')
  await expect(page.getByText('No tag matches')).toBeVisible()

  await page.goto(`${shop.url}${CONSOLE}/productTag?per=100`)
  await expect(page.getByRole('button', { name: /^Delete: ./ }).first()).toBeVisible()
  await expect(page.getByRole('button', { name: 'Delete: ', exact: true })).toHaveCount(0)
})

test('a sync goes on through a reload, is shown in every tab, and is cancelled from another one', async ({
  page,
  shop
}) => {
  await endSyncs(shop)
  await asAdmin(page, shop)
  const other = await page.context().newPage()
  await other.goto(`${shop.url}${CONSOLE}/tickets`)
  await page.goto(`${shop.url}${CONSOLE}/productManager`)
  const dialog = page.getByRole('dialog', { name: /^Take products/ })
  // The platform is silent at the first page of products, for as long as the shop waits for it.
  await onPlatform(shop, 'graphql/faults', { kind: 'timeout', after: 3, next: 1 })
  try {
    await page.getByRole('button', { name: 'Synchronise' }).click()
    await expect(dialog.getByRole('status')).toContainText(/Reading products 0 of \d+/)
    await page.reload()
    await expect(dialog.getByRole('status')).toContainText('Reading products')
    const running = other.getByRole('region', { name: 'Syncs with the platform' })
    await expect(running).toContainText('Reading products')
    await running.getByRole('button', { name: /^Cancel: Take products/ }).click()
    await expect(running).toHaveCount(0)
    await other.close()
    await expect(dialog).toContainText('Nothing was changed.')
  } finally {
    await platformAnswers(shop)
  }
  await dialog.getByRole('button', { name: 'Compare now' }).click()
  await expect(dialog.getByRole('button', { name: 'Compare again' })).toBeVisible()
  // Left as it is, it waits above every screen for somebody who looks at it.
  await page.goto(`${shop.url}${CONSOLE}/tickets`)
  const waiting = page.getByRole('region', { name: 'Syncs with the platform' })
  await waiting.getByRole('link', { name: 'Show' }).click()
  await expect(dialog.getByRole('button', { name: 'Compare again' })).toBeVisible()
})

/** Takes what the platform has, after a look at what that changes. */
async function synchronise(page: Page, title: string, change: string): Promise<void> {
  await page.getByRole('button', { name: 'Synchronise' }).click()
  const sync = page.getByRole('dialog', { name: title })
  await expect(sync.getByRole('list', { name: 'Changes' })).toContainText(change)
  await sync.getByRole('button', { name: 'Apply' }).click()
  await said(page, 'successfully')
  await expect(sync).toBeHidden()
}
