import type { Page } from '@playwright/test'
import { answer, asAdmin, call, choose, said, signedIn } from './console.ts'
import { openScreen } from './operator.ts'
import { expect, test, type RunningShop } from './shop.ts'

// Every action, message and question of the specification about servers and their groups, as an operator meets them.

const question = (page: Page) => page.getByRole('dialog').last()

async function openConsole(page: Page, shop: RunningShop, screen: string): Promise<void> {
  await asAdmin(page, shop)
  await page.goto(`${shop.url}/dashboard/index/${screen}`)
}

test('Server Manage: search, Add, Edit and Delete, in the words of the specification', async ({ page, shop }) => {
  await openConsole(page, shop, 'servers')
  await expect(page.getByRole('combobox', { name: 'Rows per page' })).toHaveValue('10')
  await page.getByRole('button', { name: 'Add server' }).click()
  const form = page.getByRole('dialog')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  for (const words of ['Please enter name', 'Please enter ip', 'Please enter cidr'])
    await expect(form.getByText(words)).toBeVisible()
  await form.getByRole('textbox', { name: 'Name', exact: true }).fill('walked')
  await form.getByRole('textbox', { name: 'IP', exact: true }).fill('127.0.0.77')
  await form.getByRole('textbox', { name: 'CIDR', exact: true }).fill('127.220.0.0/24')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await said(page, 'successfully')

  await page.getByRole('searchbox').fill('walk')
  await page.getByRole('button', { name: 'Search', exact: true }).click()
  await expect(page.getByText('1 in total', { exact: true })).toBeVisible()
  await expect(page.getByRole('row').filter({ hasText: 'walked' })).toContainText('127.220.0.0/24')

  await choose(page, 'walked', 'Edit')
  await form.getByRole('textbox', { name: 'Description' }).fill('For the walk')
  await form.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('row').filter({ hasText: 'For the walk' })).toBeVisible()

  for (const yes of ['NO', 'YES'] as const) {
    await choose(page, 'walked', 'Delete')
    await answer(page, 'Confirm deletion', yes, 'Delete ?', 'walked')
    await expect(page.getByRole('row').filter({ hasText: 'walked' })).toHaveCount(yes === 'NO' ? 1 : 0)
  }
})

test('Manage: every handle asks for what it needs, asks before it ends something, and shows the raw response', async ({
  page,
  shop
}) => {
  const admin = await signedIn(shop, 'admin')
  const { data: rules } = await call<{ data: { id: number }[] }>(admin, 'get', '/api/servers/acls/?limit=1')
  const group = { name: 'Walked group', description: 'For the walk', acls: rules.map(({ id }) => id) }
  await call(admin, 'post', '/api/servers/acl-groups/', group)
  await admin.dispose()
  await openConsole(page, shop, 'servers')
  const manage = () => choose(page, 'Local agent', 'Manage')
  await manage()
  await expect(page.getByText('Manual operations do not affect stock')).toBeVisible()
  const output = page.getByRole('region', { name: 'Output' })
  const run = () => page.getByRole('button', { name: 'Run' }).click()
  const pick = (name: string) => page.getByRole('combobox', { name: 'Handle' }).selectOption(name)
  const field = (name: string) => page.getByRole('textbox', { name, exact: true })

  await pick('create_user_by_prefix')
  await run()
  for (const words of ['please enter a username', 'please enter a prefix', 'please select a acl_group'])
    await expect(page.getByText(words)).toBeVisible()
  for (const name of ['walker1', 'walker2']) {
    await field('Username').fill(name)
    await field('Prefix').fill(name === 'walker1' ? '127.10.250.0/30' : '127.10.250.4/30')
    await page.getByRole('combobox', { name: 'ACL group' }).selectOption({ label: group.name })
    await run()
    await expect(output).toContainText(name)
    await expect(page.getByRole('list', { name: 'User list' })).toContainText(name)
  }

  await pick('delete_user')
  await field('Username').fill('')
  await run()
  await expect(page.getByText('please enter a username')).toBeVisible()
  await field('Username').fill('walker1')
  for (const yes of ['NO', 'YES'] as const) {
    await run()
    await answer(page, 'Confirm deletion', yes, 'Delete ?', 'walker1')
    const left = page.getByRole('list', { name: 'User list' }).getByText('walker1')
    await expect(left).toHaveCount(yes === 'NO' ? 1 : 0)
  }

  await pick('list_acl')
  await run()
  await expect(output).toContainText('list_acl')
  await pick('get_server_info')
  await run()
  await expect(output).toContainText('"user_list"')
  await pick('flush_access_log')
  await run()
  await question(page).getByRole('button', { name: 'YES' }).click()
  await expect(output).toContainText('flush_access_log')
  await pick('reset_all_proxy')
  await page.getByRole('button', { name: 'Fill in all ranges of the server' }).click()
  await run()
  await expect(question(page)).toContainText('All ranges are kept, and loaded again.')
  await question(page).getByRole('button', { name: 'YES' }).click()
  await expect(output).toContainText('127.10.0.0/16')
  await pick('delete_all_user')
  await run()
  await expect(question(page)).toContainText('Delete ?')
  // Above ten users their number is typed.
  const number = /Type ([\d,]+) to go on/.exec(await question(page).innerText())?.[1]
  if (number) await question(page).getByRole('textbox').fill(number)
  await answer(page, 'Confirm deletion', 'YES', 'Delete ?')
  await expect(page.getByRole('list', { name: 'User list' }).getByText('walker2')).toHaveCount(0)

  await pick('request_api')
  await field('URI').fill('/etc/passwd')
  await field('JSON input').fill('[1')
  await run()
  await expect(page.getByText('please enter a correct uri')).toBeVisible()
  await expect(page.getByText('please enter a correct json_input')).toBeVisible()
  await field('URI').fill('/api/view-user')
  await field('JSON input').fill('{"user": "nobody"}')
  await run()
  await question(page).getByRole('button', { name: 'NO' }).click()
  await run()
  await question(page).getByRole('button', { name: 'YES' }).click()
  await expect(output).toContainText('No such user.')

  // Back clears what was entered and what was answered.
  await pick('delete_user')
  await field('Username').fill('left behind')
  await page.getByRole('button', { name: 'Back', exact: true }).click()
  await expect(page.getByRole('button', { name: 'Actions: Local agent' })).toBeVisible()
  await manage()
  await expect(output).toContainText('The raw response of a handle stands here.')
  await expect(field('Username')).toHaveValue('')
  await expect(page.getByRole('textbox', { name: 'URI' })).toHaveCount(0)
})

test('Server Group Manage: Add, Edit and Delete, in the words of the specification', async ({ page, shop }) => {
  await openConsole(page, shop, 'home')
  await openScreen(page, 'Server Group Manage')
  await page.getByRole('button', { name: 'Add server group' }).click()
  const form = page.getByRole('dialog')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await expect(form.getByText('Please enter description')).toBeVisible()
  await form.getByRole('textbox', { name: 'Name' }).fill('Walked')
  await form.getByRole('textbox', { name: 'Description' }).fill('Seen on the way')
  await form.getByRole('checkbox', { name: 'Local agent' }).check()
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  await said(page, 'successfully')
  const row = page.getByRole('row').filter({ hasText: 'Walked' })
  await expect(row).toContainText('Local agent')
  await page.getByRole('button', { name: 'Edit: Walked' }).click()
  await form.getByRole('textbox', { name: 'Description' }).fill('Seen twice')
  await form.getByRole('button', { name: 'Save' }).click()
  await expect(row).toContainText('Seen twice')
  for (const yes of ['NO', 'YES'] as const) {
    await page.getByRole('button', { name: 'Delete: Walked' }).click()
    await answer(page, 'Confirm deletion', yes, 'Delete ?', 'Walked')
    await expect(row).toHaveCount(yes === 'NO' ? 1 : 0)
  }
})
