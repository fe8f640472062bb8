import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { formMessages, message, messageKeyOf } from './form-messages.ts'
import { refusals } from './messages.ts'
import { ApiKeyForm, Id, LoginBody, routes, SettingsForm, type Route } from './index.ts'

const said = (schema: z.ZodType, value: unknown) =>
  (schema.safeParse(value).error?.issues ?? []).map(issue => messageKeyOf(issue.message))

describe('form messages', () => {
  it('say their sentence, and are known by it from then on', () => {
    expect(message('at_most_characters', { max: 9 })).toBe('At most 9 characters')
    expect(messageKeyOf('At most 9 characters')).toEqual({ key: 'at_most_characters', params: { max: 9 } })
    expect(messageKeyOf('Nobody says this')).toBeUndefined()
  })

  it('have a sentence of their own each, and no key of a refusal', () => {
    expect(new Set(Object.values(formMessages)).size).toBe(Object.keys(formMessages).length)
    expect(Object.keys(formMessages).filter(key => key in refusals)).toEqual([])
  })

  it.each([-1, 0, 1.5, 'x', '-1', '', null, {}])('say of %j in their own words that it is no id', value => {
    expect(said(Id, value)).toEqual([{ key: 'must_be_id', params: {} }])
  })

  it('are known for what the forms refuse', () => {
    expect(said(ApiKeyForm, { name: 'x'.repeat(65), scopes: [], password: 'x' })).toEqual([
      { key: 'at_most_characters', params: { max: 64 } },
      { key: 'must_select', params: {} }
    ])
    expect(said(SettingsForm, { email_code_expire: '5' })).toEqual([
      { key: 'must_be_number', params: { min: 60, max: 86_400 } }
    ])
    expect(said(LoginBody, {}).map(known => known?.key)).toEqual(['enter_username_or_email', 'enter_your_password'])
  })

  it('name every sentence of our own; those of the library remain', () => {
    const bodies = Object.values(routes).flatMap(calls =>
      (Object.values(calls) as Route[]).flatMap(({ body }) => (body ? [body] : []))
    )
    const sentences = bodies.flatMap(body => (body.safeParse({}).error?.issues ?? []).map(issue => issue.message))
    expect(sentences.length).toBeGreaterThan(50)
    expect(sentences.filter(sentence => !messageKeyOf(sentence) && !/^Invalid (input|option)/.test(sentence))).toEqual(
      []
    )
  })
})
