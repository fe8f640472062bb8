import { expect, test } from '@playwright/test'

test('the browser has a font to write with', async ({ page }) => {
  await page.setContent('<span id="narrow">iiiiiiii</span> <span id="wide">WWWWWWWW</span>')
  const width = async (id: string) => (await page.locator(id).boundingBox())?.width ?? 0
  const narrow = await width('#narrow')
  expect(narrow).toBeGreaterThan(0)
  // Without any font every letter is the same empty box.
  expect(await width('#wide')).toBeGreaterThan(narrow * 2)
})

test('the browser reaches nothing outside this machine', async ({ page }) => {
  await expect(page.goto('http://shop.example/')).rejects.toThrow('ERR_NAME_NOT_RESOLVED')
  await expect(page.goto('http://192.0.2.1/')).rejects.toThrow('ERR_NAME_NOT_RESOLVED')
})
