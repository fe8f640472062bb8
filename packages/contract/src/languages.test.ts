import { expect, test } from 'vitest'
import { preferredLanguage } from './languages.ts'

test.each([
  [undefined, 'en'],
  ['', 'en'],
  ['fr-FR,fr;q=0.9', 'en'],
  ['zh-CN,zh;q=0.9,en;q=0.8', 'zh-CN'],
  ['zh-TW', 'zh-CN'],
  ['en-GB,en;q=0.9,zh;q=0.8', 'en'],
  ['en;q=0.1, zh;q=0.9', 'zh-CN'],
  ['zh;q=0, en', 'en'],
  ['zh;q=nonsense', 'en'],
  [`${'x'.repeat(5000)},zh`, 'en']
])('%s is read in %s', (header, language) => {
  expect(preferredLanguage(header)).toBe(language)
})
