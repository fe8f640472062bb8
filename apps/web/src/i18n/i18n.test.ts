import { formMessages, refusals } from '@netlet/contract'
import { LEVEL_NAMES } from '@netlet/contract/limits'
import { POINT_REASONS } from '@netlet/contract/rewards'
import { describe, expect, it } from 'vitest'
import accountEn from './account.en.json'
import accountZh from './account.zh-CN.json'
import adminEn from './admin.en.json'
import adminZh from './admin.zh-CN.json'
import en from './en.json'
import loginEn from './login.en.json'
import loginZh from './login.zh-CN.json'
import landingEn from './landing.en.json'
import landingZh from './landing.zh-CN.json'
import proxiesEn from './proxies.en.json'
import proxiesZh from './proxies.zh-CN.json'
import productEn from './product.en.json'
import productZh from './product.zh-CN.json'
import reasons from './reasons.zh-CN.json'
import { fill, type Words } from './words.ts'
import levelsEn from './levels.en.json'
import levelsZh from './levels.zh-CN.json'
import receiptsEn from './receipts.en.json'
import receiptsZh from './receipts.zh-CN.json'
import referenceEn from './reference.en.json'
import referenceZh from './reference.zh-CN.json'
import statusEn from './status.en.json'
import statusZh from './status.zh-CN.json'
import supportEn from './support.en.json'
import supportZh from './support.zh-CN.json'
import zh from './zh-CN.json'

const lists: [string, Words, Words][] = [
  ['the shop', en, zh],
  ['the product page', productEn, productZh],
  ['the dashboard', accountEn, accountZh],
  ['the console', adminEn, adminZh],
  ['the landing page', landingEn, landingZh],
  ['the second step of a log-in', loginEn, loginZh],
  ['orders and proxies', proxiesEn, proxiesZh],
  ['the status page', statusEn, statusZh],
  ['own tickets', supportEn, supportZh],
  ['the receipts', receiptsEn, receiptsZh],
  ['the levels', levelsEn, levelsZh],
  ['the API reference', referenceEn, referenceZh]
]
const blanks = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(match => match[0]).toSorted()

describe('the word lists', () => {
  it.each(lists)('%s has in Chinese what it has in English', (_, en, zh) => {
    expect(Object.keys(zh).toSorted()).toEqual(Object.keys(en).toSorted())
    for (const [key, text] of Object.entries(en)) {
      expect(zh[key], key).not.toBe('')
      expect(blanks(zh[key] ?? ''), key).toEqual(blanks(text))
    }
  })

  it('have every refusal and every form message of the contract, with the same parameters, and nothing else', () => {
    const english: Words = { ...formMessages }
    for (const [reason, [, sentence]] of Object.entries(refusals)) english[reason] = sentence
    expect(Object.keys(reasons).toSorted()).toEqual(Object.keys(english).toSorted())
    for (const [reason, sentence] of Object.entries(english)) {
      const chinese = (reasons as Words)[reason] ?? ''
      expect(chinese, reason).not.toBe('')
      expect(blanks(chinese), reason).toEqual(blanks(sentence))
    }
  })

  it('call the levels as the contract does', () => {
    expect(Object.values(levelsEn)).toEqual([...LEVEL_NAMES])
  })

  it('say why points change in the sentences of the contract', () => {
    for (const [code, sentence] of Object.entries(POINT_REASONS))
      expect((accountEn as Words)[`points.of.${code}`], code).toBe(sentence)
  })

  it('fills in values and leaves what it does not know', () => {
    expect(fill('{from} to {to} of {total}', { from: 1, to: 5, total: 23 })).toBe('1 to 5 of 23')
    expect(fill('{a} and {b}', { a: '{b}', b: 'x' })).toBe('{b} and x')
    expect(fill('{unknown}', {})).toBe('{unknown}')
  })

  it('use the form of a word that goes with its number', () => {
    const days = (count: string | number) => fill('{count} {count|day is|days are} left', { count })
    expect(days(1)).toBe('1 day is left')
    expect(days('1')).toBe('1 day is left')
    for (const count of [0, 2, 21, '1,001']) expect(days(count)).toBe(`${count} days are left`)
  })

  it.each(lists)('%s says in English nothing like "1 days"', (_, en) => {
    for (const [key, text] of Object.entries(en)) {
      expect(text, key).not.toMatch(
        /\{\w+\} (more |new |free |other )?(addresses|coins|days|jobs|orders|points|proxies|ranges|servers|times|users)\b/
      )
      for (const [, name] of text.matchAll(/\{(\w+)\|/g)) expect(blanks(text), key).toContain(`{${name}}`)
    }
  })
})
