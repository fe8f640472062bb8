import { beforeEach, describe, expect, it } from 'vitest'
import { ApiError } from '../api/client.ts'
import { formMessage, rules } from '../kit/form.ts'
import { ApiKeyForm } from '../kit/schemas.ts'
import { failureText, fieldTexts } from './failures.ts'
import { setLanguage } from './language.ts'

const refused = (message: string, data: object) => new ApiError('refused', message, 400, 400, data)
const invalid = refused('At most 64 characters', {
  reason: 'invalid',
  errors: { name: 'At most 64 characters', scopes: 'Please select', more: 'Something of the library' },
  field_reasons: {
    name: { reason: 'at_most_characters', params: { max: 64 } },
    scopes: { reason: 'must_select', params: {} }
  }
})
const taken = refused('This name is already in use', {
  reason: 'name_taken',
  errors: { name: 'This name is already in use' }
})

describe('in English', () => {
  it('every failure says what the server said', () => {
    expect(failureText(invalid)).toBe('At most 64 characters')
    expect(failureText(refused('You have 20 API keys.', { reason: 'conflict' }))).toBe('You have 20 API keys.')
    expect(fieldTexts(taken)).toEqual({ name: 'This name is already in use' })
  })

  it('our own words are used where it said nothing', () => {
    expect(failureText(new ApiError('timeout', ''))).toMatch(/too long/)
    expect(failureText(new ApiError('format', '', 200), 'No proxies')).toBe('No proxies')
    expect(failureText(new ApiError('network', ''), '搜索失败')).toBe(
      '搜索失败: Cannot reach the shop. Please check your connection.'
    )
    expect(failureText(new ApiError('timeout', ''), 'Not saved.')).toMatch(/^Not saved\. The shop took too long/)
    expect(failureText(new Error('bug'))).toBe('Something went wrong. Please try again.')
  })
})

describe('in Chinese', () => {
  beforeEach(() => setLanguage('zh-CN'))

  it('a refusal is worded by its reason and what it is about, never by its sentence', () => {
    expect(failureText(refused('any words', { reason: 'out_of_stock' }))).toBe('库存不足')
    expect(failureText(invalid)).toBe('最多 64 个字符')
  })

  it('so is each field', () => {
    expect(fieldTexts(invalid)).toEqual({ name: '最多 64 个字符', scopes: '请选择', more: 'Something of the library' })
    expect(fieldTexts(taken)).toEqual({ name: '该名称已被使用' })
  })

  it('a reason that has no words here keeps its sentence', () => {
    expect(failureText(refused('Brand new', { reason: 'from_tomorrow' }))).toBe('Brand new')
    expect(failureText(refused('Brand new', { reason: 'toString' }))).toBe('Brand new')
    expect(failureText(refused('Old server', {}))).toBe('Old server')
  })

  it('forms say their rules in it, the first for each field', () => {
    const password = 'Secret#123'
    expect(rules(ApiKeyForm)({ name: '', scopes: [], password })).toEqual({ name: '请输入名称', scopes: '请选择' })
    expect(rules(ApiKeyForm)({ name: '\0'.repeat(65), scopes: ['read'], password })).toEqual({ name: '最多 64 个字符' })
    expect(formMessage('at_most_characters', { max: 3 })).toBe('最多 3 个字符')
  })
})
