import type { Page } from '@playwright/test'
import { violations } from './axe.ts'
import { buy, failing } from './console.ts'
import { expect, test } from './shop.ts'
import { asNewCustomer } from './shopper.ts'

// What is open, said or wrong on a page, in the dark and in Chinese: pages as they are when they are opened are walked elsewhere.

test.use({ colorScheme: 'dark', locale: 'zh-CN' })

async function accessible(page: Page, what: string): Promise<void> {
  expect.soft(await violations(page), what).toEqual([])
}

test('a visitor: menus that are open, and a form that is wrong', async ({ page, shop }) => {
  await page.goto(`${shop.url}/createAccount`)
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark')
  await page.getByRole('button', { name: '注册', exact: true }).click()
  await expect(page.locator('form').getByRole('alert')).toHaveText('请先填写完整表单！')
  await expect(page.getByRole('textbox', { name: '用户名' })).toHaveAccessibleDescription('请输入用户名')
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
  const customer = await asNewCustomer(page, shop)
  const order = await buy(shop, { by: customer })
  const address = `${shop.url}/dashboard/index/proxies?order=${order.id}`
  const alert = (words: string) => page.getByRole('alert').filter({ hasText: words })

  await test.step('the dialogs of an order', async () => {
    await page.goto(address)
    const proxies = page.getByRole('region', { name: '代理', exact: true })
    await expect(proxies.getByRole('row')).toHaveCount(9)
    for (const [button, title] of [
      ['客户端访问', '谁可以使用这些代理'],
      ['代码', '使用代理'],
      [/^更换密码/, '为此订单生成新的凭据？']
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
  })

  await test.step('messages and menus', async () => {
    const end = await failing(page, /\/copy_proxies/)
    await page.getByRole('group').getByRole('button', { name: '复制', exact: true }).click()
    await expect(alert('复制失败')).toBeVisible()
    await alert('复制失败').hover()
    await accessible(page, 'a message')
    await end()
    await page.getByRole('banner').getByRole('button', { name: customer.username }).click()
    await expect(page.getByRole('button', { name: '退出登录' })).toBeVisible()
    await accessible(page, 'the menu of the user')
  })

  await test.step('what could not be loaded', async () => {
    // Refused at once: what is not answered is asked for again first.
    const refuse = (path: RegExp) =>
      page.route(path, route => route.fulfill({ status: 500, json: { code: 500, msg: '', data: null } }))
    await refuse(/\/get_proxy_detail\//)
    await page.goto(address)
    await expect(alert('加载代理详情失败')).toBeVisible()
    await accessible(page, 'no proxies')
    await refuse(/\/api\/orders\/order_list\/\?/)
    await page.reload()
    await expect(alert('加载订单详情失败')).toBeVisible()
    await accessible(page, 'no orders')
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })
})
