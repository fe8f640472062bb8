import type { Page } from '@playwright/test'
import { expect, type RunningShop } from './shop.ts'

/** How the chat platform's API answers its next calls. */
export const fault = (shop: RunningShop, body: object) =>
  fetch(`${shop.platformUrl}/sandbox/discord/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })

/** From the login page to the platform's page that asks who one is. */
export async function leaveToLogIn(page: Page, shop: RunningShop): Promise<void> {
  await page.goto(`${shop.url}/login`)
  await page.getByRole('tab', { name: 'Discord' }).click()
  await page.getByRole('button', { name: /Discord/ }).click()
  await expect(page.getByRole('heading', { name: 'Who are you today?' })).toBeVisible()
}

export async function logIn(page: Page, shop: RunningShop, account: RunningShop['customer']): Promise<void> {
  const reply = await page.request.post(`${shop.url}/api/auth/login`, { data: account })
  expect(reply.ok()).toBe(true)
}

/** From the settings to the platform's page that asks who one is. */
export async function leaveToBind(page: Page, shop: RunningShop, password: string): Promise<void> {
  await page.goto(`${shop.url}/dashboard/index/setting`)
  const part = page.getByRole('region', { name: 'Discord account' })
  await part.getByRole('button', { name: /^Connect/ }).click()
  await part.getByRole('textbox', { name: /password/i }).fill(password)
  await part.getByRole('button', { name: 'Continue to Discord' }).click()
  await expect(page.getByRole('heading', { name: 'Who are you today?' })).toBeVisible()
}
