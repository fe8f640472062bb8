import { z } from 'zod'
import type { Permission } from './permissions.ts'
import type { Resource } from './resources.ts'

/** Who may call: anyone, anyone signed in, or administrators. */
export type Access = 'public' | 'user' | 'admin'
/** What a customer's API key may do besides nothing at all. */
export type Scope = 'read' | 'renew' | 'webhooks'

/** Lists of people and of codes that are worth money. */
export const EXPORTED = ['coupon', 'gift_card', 'level_code', 'order', 'user'] as const satisfies readonly Resource[]

type Shape = z.ZodType

/** What the shop's settings say about confirmations. */
export type ConfirmLimits = {
  /** In the shop's currency. */
  refundsFrom: number
}

export type RouteOptions<P extends Shape, Q extends Shape, B extends Shape, R extends Shape, A extends Access> = {
  summary: string
  access: A
  /** The permission that an administrator needs. In customers' calls it allows access to other users' objects. */
  permission?: Permission
  /** Customers' API keys with this scope may call it. */
  scope?: Scope
  /** A repeated call with the same `Idempotency-Key` header returns the first answer and has no further effect. */
  idempotencyKey?: 'optional' | 'required'
  /** The reply contains proxy passwords, so the audit log records which API key read them. */
  reveals?: 'credentials'
  /** An operator's export of this list stands in the audit log. */
  exports?: (typeof EXPORTED)[number]
  params?: P
  query?: Q
  body?: B
  /** Bytes that the body may have; by default 1 MiB in calls of administrators, and 64 KiB in others. */
  bodyLimit?: number
  /** Operators without their required second factor may call it. */
  beforeSecondFactor?: true
  /**
   * An operator's session must have confirmed itself lately: always, or for some bodies or queries. API tokens that have
   * the permission pass.
   */
  needsConfirmation?: true | { asks(body: z.output<B>, limits: ConfirmLimits, query: z.output<Q>): boolean }
  /** It is about the session that calls, or decides who operates the shop, so no API token passes. */
  sessionOnly?: true
  /** The handler verifies the body's bytes before anything is parsed. */
  rawBody?: true
  /** The shape of `data` in a success. */
  reply: R
  /** The reply has this content type instead of the envelope. */
  raw?: string
}

export type Route<
  P extends Shape = Shape,
  Q extends Shape = Shape,
  B extends Shape = Shape,
  R extends Shape = Shape,
  A extends Access = Access
> = RouteOptions<P, Q, B, R, A> & { method: Method; path: string }

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

const none = z.object({})
type None = typeof none

/** Declares one API call. Validation, client types and documentation derive from it. */
export function route<
  R extends Shape,
  const A extends Access,
  P extends Shape = None,
  Q extends Shape = None,
  B extends Shape = z.ZodUndefined
>(
  method: Method,
  path: string,
  options: RouteOptions<P, Q, B, R, A> & (A extends 'admin' ? { permission: Permission } : unknown)
): Route<P, Q, B, R, A> {
  return { method, path, ...options }
}

/** A route's parts as the caller passes and receives them. */
export type ParamsOf<T> = T extends Route<infer P> ? z.input<P> : never
export type QueryOf<T> = T extends Route<Shape, infer Q> ? z.input<Q> : never
export type BodyOf<T> = T extends Route<Shape, Shape, infer B> ? z.input<B> : never
export type ReplyOf<T> = T extends Route<Shape, Shape, Shape, infer R> ? z.output<R> : never

/** `code` of a success. */
export const SUCCESS = 2000

export type Envelope<T = unknown> = { code: number; data: T; msg: string }
