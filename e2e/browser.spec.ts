import { expect, test } from './shop.ts'

test('the browser has a font to write with, and reaches nothing outside this machine', async ({ page }) => {
  await page.setContent('<span id="narrow">iiiiiiii</span> <span id="wide">WWWWWWWW</span>')
  const width = async (id: string) => (await page.locator(id).boundingBox())?.width ?? 0
  const narrow = await width('#narrow')
  expect(narrow).toBeGreaterThan(0)
  // Without fonts, every letter would be the same box.
  expect(await width('#wide')).toBeGreaterThan(narrow * 2)
  for (const address of ['http://shop.example/', 'http://192.0.2.1/'])
    await expect(page.goto(address)).rejects.toThrow('ERR_NAME_NOT_RESOLVED')
})
