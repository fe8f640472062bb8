import { CODE_KINDS, EXPORTED, ORDER_TASKS } from '@netlet/contract'
import { describe, expect, it } from 'vitest'
import en from '../../i18n/admin.en.json'
import zh from '../../i18n/admin.zh-CN.json'
import type { T } from '../kit/index.ts'
import { auditCalls, type AuditCall } from './audit-calls.fixture.ts'
import { actionText, keyOfField, labelOf, valueKey } from './labels.ts'

/** Actions whose names are computed. */
const MADE: Record<string, readonly string[]> = {
  '`${ref.kind}.create_there`': CODE_KINDS.map(kind => `${kind}.create_there`),
  '`${resource}.export`': EXPORTED.map(resource => `${resource}.export`),
  '`user.${verb}`': ['fail_login', 'fail_confirmation', 'fail_second_factor', 'refuse_rights'].map(
    verb => `user.${verb}`
  ),
  action: ['ticket.close', 'ticket.reopen'],
  "form.permissions ? 'api_key.make_token' : 'api_key.create'": ['api_key.make_token', 'api_key.create'],
  "before.permissions ? 'api_key.revoke_token' : 'api_key.revoke'": ['api_key.revoke_token', 'api_key.revoke'],
  '`order.${task}`': ORDER_TASKS.filter(task => task !== 'check').map(task => `order.${task}`),
  '`platform_event.${ACTIONS[resolution]}`': ['apply', 'mark_refunded', 'ignore'].map(verb => `platform_event.${verb}`),
  "`server.${status === 'active' ? 'resume' : 'pause'}`": ['server.resume', 'server.pause'],
  "drift.kind === 'rule' ? 'acl_rule.write_price' : 'product.write_price'": [
    'acl_rule.write_price',
    'product.write_price'
  ]
}

const calls = auditCalls()
const namesOf = ({ action }: AuditCall): readonly string[] =>
  /^'[^']+'$/.test(action) ? [action.slice(1, -1)] : (MADE[action] ?? [action])
const t = ((key: string) => (en as Record<string, string>)[key] ?? key) as T

describe('the words of the audit log', () => {
  it('name every action that the code writes, in both languages', () => {
    const actions = new Set(calls.flatMap(namesOf))
    expect(actions.size).toBeGreaterThan(90)
    for (const action of actions) {
      const key = `audit.did.${action}`
      expect((en as Record<string, string>)[key], key).toMatch(/^[A-Z]/)
      expect((zh as Record<string, string>)[key], key).toMatch(/[\p{Script=Han}]/u)
    }
    const worded = Object.keys(en).filter(key => key.startsWith('audit.did.'))
    expect(worded.toSorted()).toEqual([...actions].map(action => `audit.did.${action}`).toSorted())
  })

  it('name every field that stands by name where an action is written', () => {
    const without = calls.flatMap(call =>
      namesOf(call).flatMap(action =>
        call.fields
          .filter(field => !keyOfField(action.slice(0, action.indexOf('.')), field))
          .map(field => `${action}: ${field}`)
      )
    )
    expect(without).toEqual([])
  })

  it('call a field of a list by the name of its object, and one without a word by its own', () => {
    expect(labelOf(t, 'product', 'variants[New York].variant_price')).toBe('Variants, New York, Price')
    expect(labelOf(t, 'user', 'isActive')).toBe('Status')
    expect(labelOf(t, 'settings', 'email_from')).toBe((en as Record<string, string>)['webSettings.email_from'])
    expect(labelOf(t, 'server', 'new_thing')).toBe('new_thing')
    expect(actionText(t, 'server.new_verb')).toBe('server.new_verb')
  })

  it('say states and kinds as the screens do', () => {
    expect(valueKey('order', 'state', 'delivered')).toBe('orders.is.delivered')
    expect(valueKey('bulk_run', 'action', 'order.deliver')).toBe('bulk.order.deliver')
    expect(valueKey('user', 'operatorRole', 'owner')).toBe('operators.role.owner')
    expect(valueKey('order', 'state', 'unheard')).toBeUndefined()
  })
})
