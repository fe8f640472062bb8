/** Actions on many rows. The part before the dot names the rows' list. */
export const BULK_ACTIONS = [
  'order.change',
  'order.reset',
  'order.check',
  'order.deliver',
  'order.delete',
  'gift_card.delete',
  'coupon.check',
  'coupon.create_there',
  'gift_card.check',
  'gift_card.create_there',
  'level_code.check',
  'level_code.create_there'
] as const
export type BulkAction = (typeof BULK_ACTIONS)[number]

/** Also runs that the shop starts through other calls, because they need more than the rows. */
export const RUN_ACTIONS = [...BULK_ACTIONS, 'order.leave_server', 'order.credit_outage'] as const
export type RunAction = (typeof RUN_ACTIONS)[number]

/**
 * What operators may do in the console. Each administrator has one role, and each administrator call names the
 * permission it needs. The server checks every call; the console shows only what the role allows.
 */

/** The owner may do everything, the others what `PERMISSIONS` lists. */
export const OPERATOR_ROLES = ['owner', 'operations', 'support', 'viewer'] as const
export type OperatorRole = (typeof OPERATOR_ROLES)[number]

/** A new operator's role until an owner chooses another: it changes nothing and sees no password. */
export const FIRST_ROLE: OperatorRole = 'viewer'

type Roles = readonly Exclude<OperatorRole, 'owner'>[]
const OPERATIONS: Roles = ['operations']
const STAFF: Roles = ['operations', 'support']
const EVERYBODY: Roles = ['operations', 'support', 'viewer']
const OWNER_ONLY: Roles = []

/** The roles with each permission, besides the owner. */
export const PERMISSIONS = {
  'users.view': EVERYBODY,
  'users.change': OPERATIONS,
  'users.switch': STAFF,
  'operators.change': OWNER_ONLY,
  'orders.view': EVERYBODY,
  'orders.change': STAFF,
  'orders.delete': OPERATIONS,
  /** Proxies with their passwords. */
  'orders.credentials': STAFF,
  'payments.view': EVERYBODY,
  /** Refunds, and decisions on payments that could not be delivered. */
  'payments.change': OPERATIONS,
  'products.view': EVERYBODY,
  'products.change': OPERATIONS,
  /** Promo codes and gift cards are worth money to anyone who reads them. */
  'rewards.view': STAFF,
  'rewards.change': OPERATIONS,
  'servers.view': EVERYBODY,
  'servers.change': OPERATIONS,
  /** Access rules, their groups, address ranges. */
  'rules.view': EVERYBODY,
  'rules.change': OPERATIONS,
  /** Who had an address. */
  'addresses.view': STAFF,
  /** Incidents on the status page. */
  'incidents.view': EVERYBODY,
  'incidents.change': STAFF,
  'tickets.view': EVERYBODY,
  'tickets.change': STAFF,
  'mails.view': EVERYBODY,
  'mails.change': STAFF,
  /** Webhook endpoints and their deliveries. */
  'webhooks.view': STAFF,
  'webhooks.change': OPERATIONS,
  /** Notices to operators, and their channels. */
  'notices.view': EVERYBODY,
  'notices.change': OPERATIONS,
  'health.view': EVERYBODY,
  'health.change': OPERATIONS,
  'tasks.view': OPERATIONS,
  'tasks.change': OPERATIONS,
  'audit.view': OPERATIONS,
  'settings.view': OPERATIONS,
  'settings.change': OWNER_ONLY,
  /** The API's documentation, and bulk runs, whose actions have their own permissions. */
  'console.use': EVERYBODY
} as const satisfies Record<string, Roles>
export type Permission = keyof typeof PERMISSIONS

/**
 * What an operator's API token may have: all but rights themselves, so that no program makes operators or tokens, and
 * viewing the shop as a customer, which needs a session.
 */
export const TOKEN_PERMISSIONS = (Object.keys(PERMISSIONS) as Permission[]).filter(
  permission => permission !== 'operators.change' && permission !== 'users.switch'
)
export type TokenPermission = (typeof TOKEN_PERMISSIONS)[number]

/** @param role null for a customer, who has no permission */
export const mayOperate = (role: OperatorRole | null, permission: Permission): boolean =>
  role === 'owner' || (role !== null && (PERMISSIONS[permission] as readonly string[]).includes(role))

export const rolesThatMay = (permission: Permission): OperatorRole[] =>
  OPERATOR_ROLES.filter(role => mayOperate(role, permission))

/** The permission for a run's action: to start it, to cancel it, and checked for each row. */
export const RUN_PERMISSIONS = {
  'order.change': 'orders.change',
  'order.reset': 'orders.change',
  'order.check': 'orders.change',
  'order.deliver': 'orders.change',
  'order.delete': 'orders.delete',
  'gift_card.delete': 'rewards.change',
  'coupon.check': 'rewards.change',
  'coupon.create_there': 'rewards.change',
  'gift_card.check': 'rewards.change',
  'gift_card.create_there': 'rewards.change',
  'level_code.check': 'rewards.change',
  'level_code.create_there': 'rewards.change',
  'order.leave_server': 'servers.change',
  'order.credit_outage': 'servers.change'
} as const satisfies Record<RunAction, Permission>
