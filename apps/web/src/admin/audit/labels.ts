import type { Resource } from '@netlet/contract'
import { AGENT_SETTING_NAMES } from '@netlet/contract/agent-settings'
import en from '../../i18n/admin.en.json'
import type { Key } from '../../i18n/admin.ts'
import type { T } from '../kit/index.ts'

// Labels of the fields in audit entries. They are the words of the resources' forms and lists.

const COMMON: Record<string, Key> = {
  amount: 'orders.amount',
  created_at: 'products.created_at',
  description: 'rules.description',
  email: 'users.email',
  email_customer: 'orders.email_customer',
  from: 'servers.started_at',
  id: 'audit.id',
  message: 'orders.message',
  name: 'rules.name',
  password: 'servers.password',
  reason: 'orders.note',
  rows: 'audit.field.limit',
  state: 'orders.state',
  status: 'orders.state',
  to: 'servers.ended_at',
  username: 'users.username'
}

/** Agent settings have the labels of the server's page. */
const AGENT_WORDS = Object.fromEntries(
  AGENT_SETTING_NAMES.map(name => [name.toLowerCase(), `agentSettings.${name}` as const])
) as Record<string, Key>

/** Fields of one resource and within it, by the last part of the path: 'agent.version' is 'version'. */
const OF: Partial<Record<Resource, Record<string, Key>>> = {
  acl_group: { acls: 'rule-groups.acls' },
  acl_rule: {
    acl_value: 'rules.acl_value',
    decisions: 'rules.decisions',
    price: 'rules.price',
    shopify_variant_id: 'rules.shopify_variant_id'
  },
  api_key: { expires_at: 'users.keyEnds', permissions: 'users.scopes', scopes: 'users.scopes' },
  bulk_run: {
    action: 'audit.action',
    outage_id: 'outages.one',
    server_id: 'outages.server',
    to_group_id: 'orders.group_id',
    to_server_id: 'orders.server_id'
  },
  cidr: {
    at: 'audit.at',
    cidr: 'ranges.cidr',
    delivery_count: 'ranges.delivery_count',
    exclude_acl: 'ranges.exclude_acl',
    ip_count: 'ranges.ip_count',
    servers: 'ranges.servers'
  },
  collection: { collection_desc: 'product-types.collection_desc', collection_name: 'product-types.collection_name' },
  coupon: {
    code: 'promo-codes.code',
    code_type: 'promo-codes.code_type',
    discount: 'promo-codes.discount',
    discount_type: 'promo-codes.discount_type',
    is_used: 'promo-codes.is_used'
  },
  faq: { answer: 'faqs.answer', question: 'faqs.question' },
  gift_card: {
    code: 'gift-cards.code',
    is_exchanged: 'gift-cards.is_exchanged',
    mount: 'gift-cards.mount',
    point: 'gift-cards.point'
  },
  incident: {
    ends_at: 'incidents.ends_at',
    locations: 'incidents.locations',
    severity: 'incidents.severity',
    started_at: 'incidents.started_at',
    text: 'incidents.text',
    title: 'incidents.title',
    updates: 'incidents.updates'
  },
  level_code: {
    code: 'level-codes.code',
    discount: 'level-codes.discount',
    discount_type: 'level-codes.discount_type',
    level: 'level-codes.level',
    point: 'level-codes.point'
  },
  mail: { address: 'blocks.address', cause: 'blocks.cause', template: 'mails.template', copy: 'audit.field.copy' },
  webhook: {
    delivery: 'hook-log.one',
    enabled: 'hook-log.enabled',
    events: 'hook-log.events',
    url: 'hook-log.url'
  },
  notice: {
    cause: 'notices.cause',
    causes: 'noticeRules.causes',
    digest_hour: 'noticeRules.digest_hour',
    hours: 'notices.hours',
    quiet_from: 'noticeRules.quiet_from',
    quiet_hours: 'noticeRules.quiet_hours',
    quiet_until: 'noticeRules.quiet_until',
    repeat_hours: 'noticeRules.repeat_hours',
    severity: 'notices.severity',
    stock: 'noticeRules.stock',
    subject: 'notices.title',
    time_zone: 'noticeRules.time_zone'
  },
  notice_channel: {
    digest: 'notice-channels.digest',
    enabled: 'notice-channels.enabled',
    has_new_secret: 'notice-channels.newSecret',
    host: 'notice-channels.target',
    kind: 'notice-channels.kind',
    language: 'notice-channels.language',
    new_target: 'notice-channels.newTarget',
    tell_critical: 'notice-channels.tell_critical',
    tell_info: 'notice-channels.tell_info',
    tell_warning: 'notice-channels.tell_warning',
    user_ids: 'notice-channels.user_ids'
  },
  order: {
    access: 'orders.clientAccess',
    client_ips: 'orders.clientIps',
    expired_at: 'orders.expired_at',
    from: 'orders.from_server_id',
    order_id: 'orders.order_id',
    outage: 'outages.one',
    platform_order: 'orders.platform_order',
    servers: 'ranges.servers',
    group_id: 'orders.group_id',
    server_id: 'orders.server_id'
  },
  platform_event: {
    note: 'payments.note',
    order: 'payments.order',
    outcome: 'payments.outcome',
    platform_order: 'payments.platform_order',
    resolution: 'payments.resolution'
  },
  product: {
    active: 'products.active',
    cart_step: 'products.cart_step',
    is_active: 'products.is_active',
    old_flag: 'products.changed',
    price: 'products.price',
    product_collections: 'products.collection',
    product_desc: 'products.product_desc',
    product_name: 'products.product_name',
    product_tags: 'products.tags',
    proxy_time: 'products.proxy_time',
    address_family: 'products.address_family',
    egress: 'products.egress',
    traffic_gb: 'products.traffic_gb',
    mbps: 'products.mbps',
    connections: 'products.connections',
    connections_per_second: 'products.connections_per_second',
    server_group: 'products.server_group',
    shopify_variant_id: 'rules.shopify_variant_id',
    variant: 'products.variant',
    variant_desc: 'products.variant_desc',
    variant_name: 'products.variant',
    variant_price: 'products.price',
    variants: 'products.variants'
  },
  settings: { logo: 'brand.logo' },
  server: {
    connection: 'live.count',
    kind: 'abuse.kind',
    subject: 'abuse.subject',
    user: 'live.user',
    acl_group: 'audit.of.acl_group',
    ...AGENT_WORDS,
    agent_port: 'servers.agent_port',
    agent_version: 'servers.version',
    certificate: 'servers.certificate',
    settings: 'agentSettings.title',
    agent_token: 'servers.agent_token',
    changed: 'audit.field.changed',
    cidrs: 'servers.cidrs',
    console: 'audit.field.console',
    ended_at: 'servers.ended_at',
    fingerprint: 'servers.host_key',
    has_certificate: 'servers.certificate',
    has_password: 'servers.password',
    host_key_fingerprint: 'servers.host_key',
    ip: 'servers.ip',
    orders: 'outages.orders',
    outage: 'outages.one',
    port: 'servers.port',
    proxy_port: 'servers.proxy_port',
    source: 'proxyTls.source',
    certificate_file: 'proxyTls.certificate_file',
    certificate_fingerprint: 'servers.certificate',
    key_file: 'proxyTls.key_file',
    step: 'audit.field.step',
    ranges: 'servers.cidrs',
    rules: 'orders.rules',
    server_id: 'outages.server',
    group_id: 'servers.group_id',
    incident: 'incidents.one',
    country: 'geofeed.country',
    region: 'geofeed.region',
    city: 'geofeed.city',
    postal: 'geofeed.postal',
    started_at: 'servers.started_at',
    users: 'users.label'
  },
  server_group: { servers: 'server-groups.servers' },
  tag: { tag_desc: 'product-tags.tag_desc', tag_name: 'product-tags.tag_name' },
  saved_reply: { text: 'replies.text', title: 'replies.title' },
  ticket: {
    answer: 'tickets.answer',
    assignee: 'tickets.assignee',
    language: 'tickets.language',
    message: 'tickets.message',
    phone: 'tickets.phone',
    user_id: 'tickets.user'
  },
  upgrade: {
    agent_version: 'servers.version',
    agent_versions: 'servers.version',
    first_id: 'upgrade.first',
    servers: 'servers.label'
  },
  user: {
    call: 'audit.field.call',
    role: 'operators.roleTitle',
    coins: 'users.reward_points',
    discord_name: 'users.chat',
    is_active: 'users.is_active',
    is_superuser: 'users.is_superuser',
    language: 'users.language',
    level_points: 'users.level_points',
    left: 'users.codesLeft',
    method: 'users.factorKind',
    methods: 'users.factorKind',
    operator_role: 'users.operator_role',
    sessions: 'users.tab.sessions'
  }
}

/** Database columns are camelCase, the wire is snake_case: 'isActive' is 'is_active'. */
const snake = (name: string): string => name.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2').toLowerCase()

const isWord = (key: string): key is Key => Object.hasOwn(en, key)

/** The label of one field; undefined if there is none. */
export function keyOfField(resource: string, field: string): Key | undefined {
  const name = snake(field)
  const setting = `webSettings.${name}`
  if (resource === 'settings' && isWord(setting)) return setting
  const own = `audit.field.${name}`
  return (OF as Record<string, Record<string, Key>>)[resource]?.[name] ?? (isWord(own) ? own : COMMON[name])
}

/** 'variants[New York].variant_price' as 'Variants, New York, Price'. A field without a label shows its name. */
export function labelOf(t: T, resource: string, path: string): string {
  return path
    .split(/(\[.*?\])|\./)
    .filter(Boolean)
    .map(part => {
      if (part.startsWith('[')) return part.slice(1, -1)
      const key = keyOfField(resource, part)
      return key ? t(key) : part
    })
    .join(', ')
}

/** An action in words; an unknown action by its name. */
export function actionText(t: T, action: string): string {
  const key = `audit.did.${action}`
  return isWord(key) ? t(key) : action
}

/** The prefix under which a field's values have words. */
const WORDS: Record<string, string> = {
  'bulk_run.action': 'bulk',
  'coupon.code_type': 'promo-codes.type',
  'coupon.discount_type': 'codes.type',
  'level_code.discount_type': 'codes.type',
  'order.state': 'orders.is',
  'platform_event.outcome': 'payments.is',
  'platform_event.resolution': 'payments.by',
  'server.status': 'servers.is',
  'ticket.language': 'tickets.in',
  'ticket.state': 'tickets.is',
  'user.language': 'tickets.in',
  'user.operator_role': 'operators.role'
}

/** The word for a value; undefined if the field's values have none. */
export function valueKey(resource: string, path: string, value: unknown): Key | undefined {
  const field = `${resource}.${snake(path)}`
  const key = `${WORDS[field]}.${String(value)}`
  const own = `audit.value.${snake(path)}.${String(value)}`
  return isWord(key) ? key : isWord(own) ? own : undefined
}

const MONEY = new Set(['amount', 'mount', 'price', 'variant_price'])
const YES_NO = new Set(['is_active', 'is_superuser', 'is_used', 'is_exchanged', 'run_init', 'settings', 'update_cidr'])

const lastOf = (path: string): string => snake(path.split('.').at(-1) ?? '')
export const isMoneyField = (path: string): boolean => MONEY.has(lastOf(path))
/** Fields that store yes and no as 1 and 0. */
export const isYesNoField = (path: string): boolean => YES_NO.has(lastOf(path))
