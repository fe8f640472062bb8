import { expect, test } from 'vitest'
import { NOTICE_WORDS, noticeSentence } from './notice-words.ts'

const braces = (text: string): string[] => [...new Set(text.match(/\{\w+\}/g))].toSorted()

test('a reason is said in the language of the sentence where it is known in both', () => {
  const both = noticeSentence('payment', { reason: 'too late', reason_zh: '过晚', order: '#1' })
  expect(both.en.text).toContain(': too late.')
  expect(both['zh-CN'].text).toContain('：过晚。')
  expect(noticeSentence('payment', { reason: 'too late', order: '#1' })['zh-CN'].text).toContain('：too late。')
})

test.each(NOTICE_WORDS)('%s says the same in both languages', words => {
  const { en, 'zh-CN': zh } = noticeSentence(words, {})
  expect(braces(zh.title + zh.text)).toEqual(braces(en.title + en.text))
  expect(zh.title).toMatch(/\p{Script=Han}/u)
  expect(zh.text).toMatch(/\p{Script=Han}/u)
  expect(en.title.length).toBeLessThan(90)
})
