import type { MailPreview } from '@netlet/contract'
import type { Page } from '@playwright/test'
import { violations } from './axe.ts'
import { anOrder, buy, call, signedIn, signIn } from './calls.ts'
import { expect, test } from './shop.ts'

// Accessibility of open, failed and invalid states, in the dark and in Chinese. `all-screens.spec.ts` checks pages as
// they open.

test.use({ colorScheme: 'dark', locale: 'zh-CN' })

async function accessible(page: Page, what: string): Promise<void> {
  // `all-screens.spec.ts` checks the frame.
  expect.soft(await violations(page, ['#side-menu', 'footer:not(main *)']), what).toEqual([])
}

test('a visitor: menus that are open, and a form that is wrong', async ({ page, shop }) => {
  await page.goto(`${shop.url}/createAccount`)
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark')
  await page.getByRole('button', { name: '注册', exact: true }).click()
  await expect(page.locator('form').getByRole('alert')).toBeVisible()
  await accessible(page, 'sign-up')
  for (const [menu, entry] of [
    ['语言', '简体中文'],
    ['配色', '深色'],
    ['支持', '常见问题']
  ] as const) {
    await page.getByRole('banner').getByRole('button', { name: menu }).click()
    await expect(page.getByRole('banner').getByText(entry, { exact: true })).toBeVisible()
    await accessible(page, menu)
    await page.keyboard.press('Escape')
  }
  await page.goto(`${shop.url}/product`)
  await page.locator('main li a[href*="/product?"]').first().click()
  await page.getByRole('button', { name: '购买' }).click()
  const rules = page.getByRole('dialog', { name: '访问规则' })
  await rules.getByRole('button', { name: '确认' }).click()
  await expect(rules.getByText('请选择', { exact: true })).toBeVisible()
  await accessible(page, 'the rules')
})

test('a customer: dialogs, questions, messages and what could not be loaded', async ({ page, shop }) => {
  const order = await buy(shop)
  await signIn(page, shop, 'customer')
  const address = `${shop.url}/dashboard/index/proxies?order=${order.id}`
  const refuse = (path: RegExp) =>
    // A refusal, because calls without an answer would be retried first.
    page.route(path, route => route.fulfill({ status: 500, json: { code: 500, msg: '', data: null } }))
  const alert = (words: string) => page.getByRole('alert').filter({ hasText: words })

  await page.goto(address)
  const proxies = page.getByRole('region', { name: '代理', exact: true })
  await expect(proxies.getByRole('row')).toHaveCount(9)
  for (const [button, title] of [
    ['客户端访问', '访问权限'],
    ['代码', '使用代理'],
    [/^重置密码/, '重置此订单的凭据？']
  ] as const) {
    await proxies.getByRole('button', { name: button }).click()
    await expect(page.getByRole('dialog', { name: title, exact: true })).toBeVisible()
    await accessible(page, title)
    await page.keyboard.press('Escape')
    await expect(page.getByRole('dialog')).toHaveCount(0)
  }
  await page.getByRole('checkbox', { name: new RegExp(order.order_id) }).check()
  await page.getByRole('button', { name: '续费 1 个订单' }).click()
  await expect(page.getByRole('dialog').getByRole('link')).toHaveCount(1)
  await accessible(page, 'the renewals')
  await page.keyboard.press('Escape')

  await refuse(/\/copy_proxies/)
  await page.getByRole('group').getByRole('button', { name: '复制', exact: true }).click()
  await expect(alert('复制失败')).toBeVisible()
  // It stays under the pointer.
  await alert('复制失败').hover()
  await accessible(page, 'a message')
  await page.getByRole('banner').getByRole('button', { name: shop.customer.username }).click()
  await expect(page.getByRole('button', { name: '退出登录' })).toBeVisible()
  await accessible(page, 'the menu of the user')

  await refuse(/\/get_proxy_detail\//)
  await page.goto(address)
  await expect(alert('加载代理详情失败')).toBeVisible()
  await accessible(page, 'no proxies')
  await refuse(/\/api\/orders\/order_list\/\?/)
  await page.goto(address)
  await expect(alert('加载订单详情失败')).toBeVisible()
  await accessible(page, 'no orders')
})

test('every mail is accessible in both languages', async ({ page, shop }) => {
  const request = await signedIn(shop, 'admin')
  const previews = await call<MailPreview[]>(request, 'get', '/api/settings/mail_templates/')
  await request.dispose()
  expect(new Set(previews.map(({ language }) => language))).toEqual(new Set(['en', 'zh-CN']))
  // Each on its own page: the console shows mails in a frame without scripts, where axe cannot run.
  for (const { template, language, html } of previews) {
    await page.setContent(html)
    await accessible(page, `${template} ${language}`)
  }
})

test('an operator: filters, menus, columns and a form that is wrong', async ({ page, shop }) => {
  const order = await anOrder(shop)
  await signIn(page, shop, 'admin')
  await page.goto(`${shop.url}/dashboard/index/orders?search=${order.order_id}`)
  await page.getByRole('button', { name: '筛选' }).click()
  await accessible(page, 'filters')
  await page.getByRole('button', { name: `操作：${order.order_id}` }).click()
  await expect(page.getByRole('menuitem', { name: '删除' })).toBeVisible()
  await accessible(page, 'the menu of a row')
  await page.keyboard.press('Escape')
  for (const name of ['视图', '列']) {
    await page.getByRole('button', { name, exact: true }).click()
    await expect(page.getByRole('dialog', { name, exact: true })).toBeVisible()
    await accessible(page, name)
    await page.keyboard.press('Escape')
    await expect(page.getByRole('dialog')).toHaveCount(0)
  }
  await page.goto(`${shop.url}/dashboard/index/orders?form=extend.${order.id}`)
  await expect(page.getByRole('dialog')).toBeVisible()
  await accessible(page, 'a form of a row')
  await page.goto(`${shop.url}/dashboard/index/giftcard?form=new`)
  await page.getByRole('button', { name: '添加', exact: true }).click()
  await expect(page.getByText('请输入金额')).toBeVisible()
  await accessible(page, 'a form that is wrong')
})
