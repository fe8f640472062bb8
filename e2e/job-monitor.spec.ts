import { signIn } from './calls.ts'
import { expect, test } from './shop.ts'

test('the job monitor goes back, forward and round in its frame', async ({ page, shop }) => {
  await signIn(page, shop, 'admin')
  await page.setViewportSize({ width: 390, height: 900 })
  const outer = `${shop.url}/dashboard/index/tasks?tab=monitor`
  await page.goto(outer)
  const frame = page.frameLocator('iframe')
  const isAt = (path: string) =>
    expect.poll(() => frame.locator('body').evaluate<string, unknown>('location.pathname')).toBe(path)
  await isAt('/task-monitor')
  // The entry before its first page is another screen.
  const back = page.getByRole('button', { name: 'Back' })
  await expect(back).toHaveAttribute('aria-disabled', 'true')
  await back.click({ force: true })
  await frame.getByRole('link', { name: 'View all' }).first().click()
  await isAt('/task-monitor/queues')
  const queue = frame.locator('table a[href*="/task-monitor/queues/"]').first()
  const [path, name] = [(await queue.getAttribute('href')) ?? '', await queue.innerText()]
  await queue.click()
  await isAt(path)

  await back.click()
  await isAt('/task-monitor/queues')
  await expect(queue).toBeVisible()
  await page.getByRole('button', { name: 'Forward' }).click()
  await isAt(path)

  // Refresh loads the current page again, so the marker is gone.
  await frame.locator('body').evaluate('document.body.dataset.old = "yes"')
  await page.getByRole('button', { name: 'Refresh' }).click()
  await expect(frame.locator('body:not([data-old])')).toBeVisible()
  await expect(frame.getByRole('heading', { name })).toBeVisible()
  await isAt(path)
  expect(page.url()).toBe(outer)
  expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0)
})
