import { expect, it } from 'vitest'
import { deviceIn } from './device-words.ts'

it.each([
  ['Chrome on Linux', 'Linux 上的 Chrome'],
  ['Microsoft Edge on Windows', 'Windows 上的 Microsoft Edge'],
  ['Firefox', 'Firefox'],
  ['own-program/1', 'own-program/1'],
  ['–', '–']
])('%s is %s in Chinese', (device, chinese) => {
  expect(deviceIn('zh-CN', device)).toBe(chinese)
  expect(deviceIn('en', device)).toBe(device)
})
