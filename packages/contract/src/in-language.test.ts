import { describe, expect, it } from 'vitest'
import { inLanguage, planName, wordsInLanguage } from './languages.ts'

const row = {
  translations: {
    'zh-CN': { name: '都会', words: { London: '伦敦', 'Block of 8': '8 个地址', 'A / B': '甲乙', constructor: '' } }
  }
}

describe('a text in a language', () => {
  it('is the one that is written in it, else the first one', () => {
    expect(inLanguage('zh-CN', 'Metro', row)).toBe('都会')
    expect(inLanguage('en', 'Metro', row)).toBe('Metro')
    expect(inLanguage('zh-CN', 'Fast', row, 'desc')).toBe('Fast')
    expect(inLanguage('zh-CN', 'Metro', {})).toBe('Metro')
    expect(inLanguage('zh-CN', 'Metro', { translations: { 'zh-CN': { name: '' } } })).toBe('Metro')
  })

  it('is put together of the words of its parts where the whole has none', () => {
    expect(wordsInLanguage('zh-CN', 'London', row)).toBe('伦敦')
    expect(wordsInLanguage('zh-CN', 'London / Block of 8', row)).toBe('伦敦 / 8 个地址')
    expect(wordsInLanguage('zh-CN', 'A / B', row)).toBe('甲乙')
    expect(wordsInLanguage('zh-CN', 'London / 30 days', row)).toBe('伦敦 / 30 days')
    expect(wordsInLanguage('en', 'London', row)).toBe('London')
    expect(wordsInLanguage('zh-CN', 'London', {})).toBe('London')
  })

  it('is no word that every object has', () => {
    for (const word of ['toString', 'constructor', '__proto__', 'hasOwnProperty'])
      expect(wordsInLanguage('zh-CN', word, row)).toBe(word)
  })
})

it('names a plan once if its only variant has its name', () => {
  expect(planName({ product_name: 'Metro', variant_name: 'London' })).toBe('Metro · London')
  expect(planName({ product_name: 'Metro', variant_name: 'Metro' })).toBe('Metro')
})
