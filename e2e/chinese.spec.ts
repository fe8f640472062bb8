import { pay } from './shopper.ts'
import { expect, test } from './shop.ts'

test.use({ locale: 'zh-CN' })

test('a plan is bought in Chinese, and what is wrong on the way is said in Chinese', async ({
  page,
  context,
  shop
}) => {
  const field = (name: string) => page.getByRole('textbox', { name, exact: true })

  await test.step('the login names what is missing and what is not right', async () => {
    await page.goto(`${shop.url}/login`)
    await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN')
    const login = page.locator('main').getByRole('button', { name: '登录', exact: true })
    await login.click()
    await expect(field('密码')).toHaveAccessibleDescription('请输入您的密码！')
    await field('用户名或邮箱').fill(shop.customer.username)
    await field('密码').fill('Wrong#2026')
    await login.click()
    await expect(page.locator('form').getByRole('alert')).toHaveText('用户名、邮箱或密码不正确')
    await field('密码').fill(shop.customer.password)
    await login.click()
    await expect(page).toHaveURL(`${shop.url}/product`)
  })

  await test.step('the rules ask for one', async () => {
    await page.locator('main li a[href*="/product?"]').first().click()
    await page.getByRole('button', { name: '购买' }).click()
    const rules = page.getByRole('dialog', { name: '访问规则' })
    await rules.getByRole('button', { name: '确认' }).click()
    await expect(page.getByText('请选择', { exact: true })).toBeVisible()
    await rules.getByRole('checkbox').and(page.locator(':enabled')).first().check()
    await rules.getByRole('button', { name: '确认' }).click()
    await expect(rules).toBeHidden()
  })

  await test.step('the payment counts down, is asked about when closed, and leads to the live proxies', async () => {
    const opened = context.waitForEvent('page')
    await page.getByRole('button', { name: '购买' }).click()
    const checkout = await opened
    const payment = page.getByRole('dialog', { name: '等待付款' })
    await expect(payment).toContainText(/(30:00|29:\d\d)/)
    await expect(payment.getByRole('button', { name: '进行中' })).toBeDisabled()
    await payment.getByRole('button', { name: '关闭', exact: true }).click()
    const question = page.getByRole('dialog', { name: '关闭此窗口？' })
    await question.getByRole('button', { name: '否', exact: true }).click()
    await pay(checkout)
    await expect(page).toHaveURL(/\/dashboard\/index\/proxies\?order=\d+/)
    await expect(page.getByRole('heading', { name: /^\d+ 个代理已可使用$/ })).toBeVisible()
  })
})
