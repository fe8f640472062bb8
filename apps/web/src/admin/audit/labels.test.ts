import {
  AclGroup,
  AclRule,
  CODE_KINDS,
  Cidr,
  CollectionForm,
  Coupon,
  Faq,
  GiftCard,
  LevelCode,
  MoveForm,
  NoticeRules,
  ORDER_TASKS,
  Outage,
  OverlapDecision,
  ProductForm,
  ProvisionForm,
  ServerGroup,
  ServerPlace,
  Settings,
  Tag,
  VariantForm,
  WebhookForm
} from '@netlet/contract'
import { AGENT_SETTING_NAMES } from '@netlet/contract/agent-settings'
import { describe, expect, it } from 'vitest'
import en from '../../i18n/admin.en.json'
import zh from '../../i18n/admin.zh-CN.json'
import type { T } from '../kit/index.ts'
import { auditCalls, type AuditCall } from './audit-calls.fixture.ts'
import { actionText, keyOfField, labelOf, valueKey } from './labels.ts'

/** Actions whose names the code puts together. */
const MADE: Record<string, readonly string[]> = {
  '`${ref.kind}.create_there`': CODE_KINDS.map(kind => `${kind}.create_there`),
  action: ['ticket.close', 'ticket.reopen'],
  '`order.${task}`': ORDER_TASKS.filter(task => task !== 'check').map(task => `order.${task}`),
  '`platform_event.${ACTIONS[resolution]}`': ['apply', 'mark_refunded', 'ignore'].map(verb => `platform_event.${verb}`),
  "`server.${status === 'active' ? 'resume' : 'pause'}`": ['server.resume', 'server.pause'],
  "drift.kind === 'rule' ? 'acl_rule.write_price' : 'product.write_price'": [
    'acl_rule.write_price',
    'product.write_price'
  ]
}

const of = (...schemas: { shape: object }[]): string[] =>
  schemas.flatMap(({ shape }) => Object.keys(shape)).filter(field => !NOT_DECIDED.test(field))
/** What nobody decides stands in no entry: what the platform has, and what follows from other rows. */
const NOT_DECIDED = /^(version|platform_(state|differs|problem|checked_at)|is_internal)$/
const USE = ['name', 'network', 'call']
const COUNTS = ['created', 'updated', 'removed']
const SERVER =
  'name ip description port agent_port proxy_port has_password host_key_fingerprint has_certificate status cidrs password agent_token'.split(
    ' '
  )
const USER = [
  'username email password isActive isSuperuser operatorRole discordId discordName coins coinsOwed levelPoints',
  'language lastLogin lastLoginIp lastLocation guessesToldAt'
].flatMap(names => names.split(' '))
const WEBHOOK = of(WebhookForm)
const CHANNEL = ['name kind language user_ids tell_critical tell_warning tell_info digest enabled host'].flatMap(
  names => names.split(' ')
)
const INCIDENT = ['title', 'severity', 'state', 'started_at', 'ends_at', 'locations']
const RULE = [...of(AclRule, OverlapDecision), 'decisions']
const PRODUCT = [...of(ProductForm, VariantForm), 'old_flag', 'option_name', 'option_values', 'server_group']

/** The fields of what is written down whole, as its domain presents it. */
const WHOLE: Record<string, readonly string[]> = {
  'notice.save_rules': of(NoticeRules),
  'notice_channel.create': CHANNEL,
  'notice_channel.delete': CHANNEL,
  'notice_channel.edit': [...CHANNEL, 'new_target', 'has_new_secret'],
  'order.client_access': ['access', 'client_ips'],
  'acl_group.create': of(AclGroup),
  'acl_group.edit': of(AclGroup),
  'acl_group.delete': of(AclGroup),
  'acl_rule.create': RULE,
  'acl_rule.edit': RULE,
  'acl_rule.delete': RULE,
  'acl_rule.follow': ['price', 'valid'],
  'api_key.read_credentials': USE,
  'api_key.revoke': ['name', 'scopes'],
  'api_key.use_new_network': USE,
  'bulk_run.start': ['action', 'rows', 'query', 'input', 'server_id', 'to_server_id', 'to_group_id', 'outage_id'],
  'cidr.clean': ['id', 'cidr'],
  'cidr.edit': of(Cidr),
  'cidr.look_up': ['at', 'from', 'to', 'format'],
  'collection.delete': of(CollectionForm),
  'collection.edit': of(CollectionForm),
  'collection.sync': COUNTS,
  'coupon.create': of(Coupon),
  'coupon.edit': of(Coupon),
  'coupon.delete': of(Coupon),
  'incident.create': INCIDENT,
  'incident.edit': INCIDENT,
  'incident.delete': [...INCIDENT, 'updates'],
  'incident.update': ['state', 'text'],
  'server.place': of(ServerPlace),
  'faq.create': of(Faq),
  'faq.edit': of(Faq),
  'faq.delete': of(Faq),
  'faq.restore': of(Faq),
  'gift_card.create': of(GiftCard),
  'gift_card.edit': of(GiftCard),
  'gift_card.delete': of(GiftCard),
  'level_code.create': of(LevelCode),
  'level_code.edit': of(LevelCode),
  'level_code.delete': of(LevelCode),
  'order.extend': ['expired_at'],
  'order.move': of(MoveForm),
  'order.refund': ['platform_order', 'amount'],
  'product.create': PRODUCT,
  'product.delete': PRODUCT,
  'product.edit': PRODUCT,
  'product.follow': ['name', 'valid', 'oldFlag'],
  'product.sync': COUNTS,
  'product.take_price': ['variant'],
  'product.undo_sync': COUNTS,
  'server.add_outage': of(Outage),
  'server.agent_restored': ['agent_port', 'proxy_port', 'certificate'],
  'server.proxy_tls': ['source', 'certificate_file', 'key_file', 'certificate_fingerprint'],
  'server.agent_settings': AGENT_SETTING_NAMES,
  'server.create': SERVER,
  'server.create_user': ['username', 'prefix', 'acl_group', 'rules'],
  'server.delete': SERVER,
  'server.edit': SERVER,
  'server.move': of(MoveForm),
  'server.provision': of(ProvisionForm),
  'server.remove_outage': of(Outage),
  'server.request_call': ['uri', 'body'],
  'server_group.create': of(ServerGroup),
  'server_group.edit': of(ServerGroup),
  'server_group.delete': of(ServerGroup),
  'settings.save': of(Settings),
  'tag.delete': of(Tag),
  'tag.edit': of(Tag),
  'tag.sync': COUNTS,
  'user.edit': USER,
  'webhook.create': WEBHOOK,
  'webhook.delete': WEBHOOK,
  'webhook.edit': WEBHOOK
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

  it('name every field that an action writes down', () => {
    const without: string[] = []
    for (const call of calls)
      for (const action of namesOf(call)) {
        // What is not written field by field says here which fields it has.
        if (call.open) expect(WHOLE, `${call.file}: ${action}`).toHaveProperty([action])
        const resource = action.slice(0, action.indexOf('.'))
        for (const field of [...call.fields, ...(call.open ? (WHOLE[action] ?? []) : [])])
          if (!keyOfField(resource, field)) without.push(`${action}: ${field}`)
      }
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
