import {
  routes,
  TOKEN_PERMISSIONS,
  type Access,
  type Domain,
  type Method,
  type Permission,
  type Route,
  type Scope
} from '@netlet/contract'
import { jsonSchema, type Components, type JsonSchema } from './schemas.ts'

/** One call of the API as the documents show it. */
export type ApiCall = {
  domain: Domain
  /** Unique: `orders.checkout`. */
  id: string
  method: Method
  /** With `:id` or `:key` where something is named. */
  path: string
  summary: string
  access: Access
  permission: Permission | undefined
  scope: Scope | undefined
  /** May an operator's API token with the permission call it? */
  takesTokens: boolean
  /** Does it ask an operator's session for a recent confirmation, always or for some bodies? */
  needsConfirmation: boolean
  /** Does it take, or require, an Idempotency-Key header? */
  idempotencyKey: Route['idempotencyKey']
  /** Its reply holds proxies' passwords. */
  reveals: boolean
  params: JsonSchema | undefined
  query: JsonSchema | undefined
  body: JsonSchema | undefined
  /** May the body be left out? */
  bodyOptional: boolean
  /** Of `data` in a success; or, with `raw`, of the whole reply. */
  reply: JsonSchema
  /** A content type, or 'redirect'. */
  raw: string | undefined
}

/** Every call of the contract, in its order, and the named shapes that they speak of. */
export function describeCalls(): { calls: ApiCall[]; components: Components } {
  const components: Components = {}
  const calls = Object.entries(routes).flatMap(([domain, ofDomain]) =>
    Object.entries(ofDomain as Record<string, Route>).map(([name, route]): ApiCall => {
      const input = (schema: Route['body']) => (schema ? jsonSchema(schema, 'input', components) : undefined)
      return {
        domain: domain as Domain,
        id: `${domain}.${name}`,
        method: route.method,
        path: route.path,
        summary: route.summary,
        access: route.access,
        permission: route.permission,
        scope: route.scope,
        takesTokens: !route.sessionOnly && TOKEN_PERMISSIONS.some(permission => permission === route.permission),
        needsConfirmation: route.needsConfirmation !== undefined,
        idempotencyKey: route.idempotencyKey,
        reveals: route.reveals === 'credentials',
        params: input(route.params),
        query: input(route.query),
        body: input(route.body),
        bodyOptional: route.body?.safeParse(undefined).success ?? true,
        reply: jsonSchema(route.reply, 'output', components),
        raw: route.raw
      }
    })
  )
  return { calls, components }
}

export const DOMAIN_TITLES: Record<Domain, string> = {
  accounts: 'Accounts, sessions and API keys',
  secondFactor: 'Second factors',
  bulk: 'Bulk commands',
  catalog: 'Products, collections and tags',
  changes: 'The change feed',
  orders: 'Orders and proxies',
  payments: 'Payments and refunds',
  inventory: 'Access rules and address ranges',
  mail: 'Mails',
  notices: 'Notices to operators',
  fleet: 'Servers and server groups',
  rewards: 'Promo codes, gift cards, levels and points',
  status: 'The status page and its incidents',
  support: 'Questions and tickets',
  settings: 'Web settings, logs and the audit log',
  home: "The console's first screen",
  webhooks: 'Outgoing webhooks',
  documentation: 'This documentation'
}

/** Who may call, in words. */
export function whoMay({
  access,
  permission,
  scope,
  needsConfirmation
}: Pick<ApiCall, 'access' | 'permission' | 'scope' | 'needsConfirmation'>): string {
  const operators = `administrators whose role allows \`${permission}\``
  const people = {
    public: 'Anyone',
    user: permission ? `Customers, and ${operators}` : 'Anyone logged in',
    admin: operators.replace('a', 'A')
  }[access]
  const keys = scope ? `; API keys with \`${scope}\`` : ''
  return `${people}${keys}${needsConfirmation ? '; may ask an administrator to confirm the session' : ''}`
}
