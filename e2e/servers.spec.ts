import { asAdmin, buy, call, signedIn } from './console.ts'
import { expect, test } from './shop.ts'

test('an operator adds a server and a group, plans before acting, and manages the agent by hand', async ({
  page,
  shop
}) => {
  test.setTimeout(180_000)
  await buy(shop)
  const request = await signedIn(shop, 'admin')
  const made = await call<{ id: number }>(request, 'post', '/api/servers/servers/', {
    name: 'silent',
    ip: '127.0.0.9',
    cidr: Array.from({ length: 7 }, (_, n) => `127.210.${n}.0/24`).join('\n')
  })
  await request.dispose()
  await asAdmin(page, shop)

  // Its ranges, five of them, and all in a dialog that a link opens.
  await page.goto(`${shop.url}/dashboard/index/servers`)
  await page.getByRole('button', { name: '2 more: all ranges of silent' }).click()
  await expect(page).toHaveURL(new RegExp(`ranges=${made.id}`))
  await page.reload()
  const all = page.getByRole('list', { name: 'All ranges' })
  await expect(all.getByRole('listitem')).toHaveCount(7)
  await page.goBack()
  await expect(all).toBeHidden()

  // An installation that cannot connect says why, also after a reload, and is tried again.
  await page.getByRole('button', { name: 'Actions: silent' }).click()
  await page.getByRole('menuitem', { name: 'Install the agent' }).click()
  await page.getByRole('button', { name: 'YES' }).click()
  const failure = page.getByText("Enter root's password or private key in the server's form first")
  await expect(failure.first()).toBeVisible()
  await page.reload()
  await expect(failure.first()).toBeVisible()
  await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible()

  // A group of it, and what becomes of stock when it is deleted.
  await page.goto(`${shop.url}/dashboard/index/servergroup?form=new`)
  await page.getByRole('textbox', { name: 'Name' }).fill('Atlantis')
  await page.getByRole('textbox', { name: 'Description' }).fill('Below the sea')
  await page.getByRole('checkbox', { name: 'silent' }).check()
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await expect(page.getByRole('cell', { name: 'Below the sea' })).toBeVisible()
  await page.getByRole('button', { name: 'Delete: Atlantis' }).click()
  const question = page.getByRole('dialog')
  await expect(question).toContainText('No plan sells from it.')
  await expect(question).toContainText('Free addresses of Atlantis:')
  await question.getByRole('button', { name: 'YES' }).click()
  await expect(page.getByRole('cell', { name: 'Below the sea' })).toBeHidden()

  // Draining says which orders have nowhere to go, the first by name; NO changes nothing.
  await page.goto(`${shop.url}/dashboard/index/servers`)
  await page.getByRole('button', { name: 'Actions: Local agent' }).click()
  await page.getByRole('menuitem', { name: 'Drain' }).click()
  await expect(page.getByRole('dialog')).toContainText(/Orders that find no room now: [1-9].*NL-\w{16}/)
  await page.getByRole('button', { name: 'NO' }).click()

  // The agent by hand: its own view, and the raw response of a call.
  await page.getByRole('button', { name: 'Actions: Local agent' }).click()
  await page.getByRole('menuitem', { name: 'Manage' }).click()
  await expect(page.getByText('Manual operations do not affect stock')).toBeVisible()
  await expect(page.getByText('"proxy_port"')).toBeVisible()
  const output = page.getByRole('region', { name: 'Output' })
  await page.getByRole('combobox', { name: 'Handle' }).selectOption('request_api')
  await page.getByRole('textbox', { name: 'URI' }).fill('/api/view-user')
  await page.getByRole('textbox', { name: 'JSON input' }).fill('{"user": "nobody"}')
  await page.getByRole('button', { name: 'Run' }).click()
  const asked = page.getByRole('dialog', { name: 'Send this call to Local agent?' })
  await expect(asked).toContainText('POST /api/view-user')
  await asked.getByRole('button', { name: 'YES' }).click()
  await expect(output).toContainText('No such user.')
  await page.getByRole('button', { name: 'Back' }).click()
  await expect(page.getByRole('button', { name: 'Actions: Local agent' })).toBeVisible()
  expect(new URL(page.url()).search).toBe('')
})
