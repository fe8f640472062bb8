import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Page } from '@playwright/test'
import { certificateMaker, type Pair } from '../apps/server/src/testing/certificates.ts'
import { violations } from './axe.ts'
import { anOrder, call, signedIn, signIn } from './calls.ts'
import { expect, test, type RunningShop } from './shop.ts'

const run = promisify(execFile)
const make = certificateMaker()
test.afterAll(() => make.remove())

const panelOf = (page: Page) => page.getByRole('region', { name: 'TLS for proxies' })

async function openPanel(page: Page, shop: RunningShop) {
  await page.goto(`${shop.url}/dashboard/index/servers`)
  await page.getByRole('button', { name: 'Actions: Local agent' }).click()
  await page.getByRole('menuitem', { name: 'Manage' }).click()
  await expect(panelOf(page).getByRole('combobox', { name: 'Certificate' })).toBeVisible()
}

async function paste(page: Page, { certificate, key }: Pair) {
  const panel = panelOf(page)
  await panel.getByRole('combobox', { name: 'Certificate' }).selectOption('Saved here')
  await panel.getByRole('textbox', { name: 'Certificate and chain' }).fill(certificate)
  await panel.getByRole('textbox', { name: 'Key' }).fill(key)
  await panel.getByRole('button', { name: 'Save' }).click()
}

/** Runs a copied command with its target replaced by one on this machine. curl trusts the test's certificate. */
async function runSnippet(snippet: string, target: string, { certificate }: Pair): Promise<string> {
  await writeFile(make.at('trusted.pem'), certificate)
  await writeFile(make.at('.curlrc'), `proxy-cacert = "${make.at('trusted.pem')}"\nsilent\nshow-error\nmax-time = 15\n`)
  expect(snippet).toContain('https://example.com')
  const { stdout } = await run('sh', ['-c', snippet.replace('https://example.com', target)], {
    env: { PATH: process.env['PATH'] ?? '', CURL_HOME: make.folder }
  })
  return stdout
}

test('an operator gives a server a certificate, and its customers reach their proxies over TLS', async ({
  page,
  browser,
  shop
}) => {
  test.setTimeout(300_000)
  const order = await anOrder(shop)
  const customer = await signedIn(shop, 'customer')
  const { proxy_lines: lines } = await call<{ proxy_lines: string[] }>(
    customer,
    'get',
    `/api/orders/order_list/${order.id}/copy_proxies/`
  )
  await customer.dispose()
  const target = `${shop.platformUrl}/echo`
  const context = await browser.newContext()
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: shop.url })
  const shopper = await context.newPage()
  await signIn(shopper, shop, 'customer')
  const clipboard = () => shopper.evaluate<string>('navigator.clipboard.readText()')
  const openProxies = () => shopper.goto(`${shop.url}/dashboard/index/proxies?order=${order.id}`)
  const copySnippet = async () => {
    await shopper.getByRole('button', { name: 'Code' }).click()
    const dialog = shopper.getByRole('dialog', { name: 'Use a proxy' })
    await dialog.getByRole('combobox', { name: 'Connection to the proxy' }).selectOption('https')
    await expect(dialog).toContainText("curl --proxy 'https://")
    expect(await violations(shopper)).toEqual([])
    await dialog.getByRole('button', { name: /^Copy/ }).click()
    const text = await clipboard()
    await shopper.keyboard.press('Escape')
    return text
  }

  await signIn(page, shop, 'admin')
  await openPanel(page, shop)
  const panel = panelOf(page)
  const named = make.selfSigned(['DNS:*.proxies.test'])

  await test.step('a key of another certificate is refused beside its field', async () => {
    await paste(page, { ...named, key: make.selfSigned(['DNS:other.test']).key })
    await expect(panel.getByText('The key does not match the certificate')).toBeVisible()
  })

  await test.step('the agent takes the right one, and a look from outside says what is wrong with it', async () => {
    await paste(page, named)
    await expect(panel.getByText('The agent uses this setting.')).toBeVisible({ timeout: 60_000 })
    await expect(panel.getByText('Days left: 29')).toBeVisible()
    await expect(panel.getByRole('textbox', { name: 'Key' })).toHaveValue('')
    await panel.getByRole('button', { name: 'Test connection' }).click()
    const found = panel.getByRole('status', { name: 'Test connection' })
    await expect(found).toContainText('does not resolve')
    await expect(found).toContainText("do not trust the certificate's issuer")
    expect(await violations(page)).toEqual([])
  })

  await test.step("the customer's command reaches the proxy by the name, wherever that leads", async () => {
    await openProxies()
    const snippet = await copySnippet()
    expect(snippet).toMatch(/@127-10-\d+-\d+\.proxies\.test:\d+' --resolve '127-10-/)
    expect(await runSnippet(snippet, target, named)).toMatch(/"ip":"127\.10\./)
  })

  await test.step('a renewal that names the addresses too holds at once, and lines for other programs appear', async () => {
    const addresses = lines.map(line => line.split(':')[0] ?? '')
    const renewed = make.selfSigned(['DNS:*.proxies.test', ...addresses.map(address => `IP:${address}`)])
    await paste(page, renewed)
    await expect(panel.getByText(new RegExp(`Names: .*${addresses[0]}`)).first()).toBeVisible({ timeout: 60_000 })
    await expect(panel.getByText('The agent uses this setting.')).toBeVisible()
    await openProxies()
    const snippet = await copySnippet()
    expect(snippet).toMatch(/@127\.10\.\d+\.\d+:\d+' https/)
    expect(await runSnippet(snippet, target, renewed)).toMatch(/"ip":"127\.10\./)
    await shopper.getByRole('combobox', { name: 'Format' }).selectOption('https://user:pass@name:port')
    await shopper.getByRole('group', { name: 'Use the proxies' }).getByRole('button', { name: 'Copy' }).click()
    // The clipboard already contains the command, so wait for its new content.
    await expect.poll(async () => (await clipboard()).split('\n').length).toBe(lines.length)
    const copied = (await clipboard()).split('\n')
    for (const line of copied) expect(line).toMatch(/^https:\/\/[^:]+:[^@]+@127\.10\.\d+\.\d+:\d+$/)
  })

  await test.step('the product says so, until it is taken away', async () => {
    await shopper.goto(`${shop.url}/product?id=${order.product_id}`)
    await expect(shopper.getByText('HTTPS proxy:')).toBeVisible()
    await panel.getByRole('combobox', { name: 'Certificate' }).selectOption('None: no TLS')
    await panel.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'YES' }).click()
    await expect(panel.getByText('Clients get no certificate.')).toBeVisible({ timeout: 60_000 })
    await openProxies()
    await expect(shopper.getByRole('combobox', { name: 'Format' })).toHaveValue('line')
    await shopper.getByRole('button', { name: 'Code' }).click()
    await expect(shopper.getByRole('dialog', { name: 'Use a proxy' })).toContainText("curl -x 'http://")
    await expect(shopper.getByRole('combobox', { name: 'Connection to the proxy' })).toBeHidden()
  })
  await context.close()
})
