import type { CodeDifference } from '@netlet/contract'
import { z } from 'zod'
import { addressThere } from './customers.ts'
import { documents } from './documents.ts'
import { CODES_A_CALL } from './promotion-documents.ts'
import { done, failed, type ShopifyResult } from './result.ts'
import { Money, UserErrors } from './shapes.ts'
import type { Execute } from './transport.ts'
import { Message, Name } from '../foreign-texts.ts'

/** Tags the discounts that the shop made. It changes and ends no others. */
export const SHOP_DISCOUNT_TAG = 'netlet'

/** A code's discount as the shop wants it: off the whole order, from now on, without an end. */
export type WantedDiscount = {
  code: string
  /** Shown in the platform's list. */
  title: string
  /** Decimal with 2 places, in the shop's currency or percent. */
  value: string
  unit: 'amount' | 'percent'
  /** Total number of uses; null for no limit. */
  uses: number | null
  oncePerCustomer: boolean
  /** The e-mail address of the only customer who may use it; null for everyone. */
  holder: string | null
}

const Discount = z.object({
  __typename: z.literal('DiscountCodeBasic'),
  tags: z.array(Name),
  status: Name,
  usageLimit: z.number().int().nullable(),
  appliesOncePerCustomer: z.boolean(),
  asyncUsageCount: z.number().int(),
  minimumRequirement: z.object({ __typename: Name }).nullable(),
  context: z.union([
    z.object({
      __typename: z.literal('DiscountCustomers'),
      customers: z.array(z.object({ id: Name })).optional()
    }),
    z.object({ __typename: Name })
  ]),
  customerGets: z.object({
    items: z.object({ __typename: Name }),
    value: z.union([
      z.object({
        __typename: z.literal('DiscountAmount'),
        amount: z.object({ amount: Money }),
        appliesOnEachItem: z.boolean()
      }),
      z.object({ __typename: z.literal('DiscountPercentage'), percentage: z.number() }),
      z.object({ __typename: Name })
    ])
  })
})

const Node = z
  .object({ id: Name, codeDiscount: z.union([Discount, z.object({ __typename: Name })]) })
  .transform(({ id, codeDiscount }) => ({ id, basic: Discount.safeParse(codeDiscount).data }))

/**
 * The platform's discount of a code. `basic` is undefined for other kinds of discounts, such as free shipping.
 * `holderId`: the platform's id of the holder that was asked for; null if it has no such customer.
 */
export type FoundDiscount = z.infer<typeof Node> & { holderId: string | null }

const Answer = z.record(z.string(), z.union([Node, z.object({ id: Name })]).nullable())

/**
 * The platform's discounts by code, as requested; null if there is none. 10 per call. The holder is found by id, because
 * the app may not be allowed to read addresses; without one, no customer is read.
 */
export async function readDiscounts(
  execute: Execute,
  wanted: readonly Pick<WantedDiscount, 'code' | 'holder'>[]
): Promise<ShopifyResult<Map<string, FoundDiscount | null>>> {
  const found = new Map<string, FoundDiscount | null>()
  for (let at = 0; at < wanted.length; at += CODES_A_CALL) {
    const part = wanted.slice(at, at + CODES_A_CALL)
    const variables: Record<string, unknown> = {}
    for (let n = 0; n < CODES_A_CALL; n++) {
      const { code = '', holder = null } = part[n] ?? {}
      Object.assign(variables, { [`code${n}`]: code, [`with${n}`]: n < part.length })
      Object.assign(variables, { [`holder${n}`]: addressThere(holder ?? ''), [`held${n}`]: holder !== null })
    }
    const reply = await execute(documents.discounts, variables, Answer)
    if (!reply.ok) return reply
    for (const [n, { code, holder }] of part.entries()) {
      const there = reply.value[`code${n}`]
      const customer = reply.value[`holder${n}`]
      if (there === undefined || (there && !('basic' in there)) || (holder !== null && customer === undefined))
        return failed('bad_reply', "The e-commerce platform's reply lacks a discount code.")
      found.set(code, there && { ...there, holderId: customer?.id ?? null })
    }
  }
  return done(found)
}

/**
 * How a discount differs from what the shop wants; empty if it is equivalent. Compares who gets what. Its title, and
 * whether it combines with other codes, are the operator's choice.
 */
export function differencesOf({ basic, holderId }: FoundDiscount, wanted: WantedDiscount): CodeDifference[] {
  if (!basic) return ['kind']
  const wrong: [CodeDifference, boolean][] = [
    ['comma', wanted.code.includes(',')],
    ['value', !isValue(basic.customerGets.value, wanted)],
    ['items', basic.customerGets.items.__typename !== 'AllDiscountItems'],
    ['minimum', basic.minimumRequirement !== null],
    ['holder', !isFor(basic.context, holderId, wanted)],
    ['uses', basic.usageLimit !== wanted.uses],
    ['once', basic.appliesOncePerCustomer !== wanted.oncePerCustomer],
    ['ended', basic.status !== 'ACTIVE'],
    ['used', basic.asyncUsageCount >= Math.min(wanted.uses ?? Infinity, basic.usageLimit ?? Infinity)]
  ]
  return wrong.flatMap(([name, isWrong]) => (isWrong ? [name] : []))
}

type Basic = z.infer<typeof Discount>

function isValue(value: Basic['customerGets']['value'], wanted: WantedDiscount): boolean {
  const hundredths = Math.round(Number(wanted.value) * 100)
  if (wanted.unit === 'percent') return 'percentage' in value && Math.round(value.percentage * 10_000) === hundredths
  return 'amount' in value && !value.appliesOnEachItem && Math.round(Number(value.amount.amount) * 100) === hundredths
}

const customersOf = (context: Basic['context'] | undefined): string[] =>
  context && 'customers' in context ? (context.customers ?? []).map(({ id }) => id) : []

/** Operators may restrict a code without a limit of uses to segments; a gift card must work for anyone. */
function isFor(
  context: Basic['context'],
  holderId: string | null,
  { holder, uses }: Pick<WantedDiscount, 'holder' | 'uses'>
): boolean {
  const { __typename: kind } = context
  if (holder === null) return uses === null ? kind !== 'DiscountCustomers' : kind === 'DiscountBuyerSelectionAll'
  const customers = customersOf(context)
  return customers.length === 1 && customers[0] === holderId
}

const Changed = z.object({ userErrors: z.array(z.object({ code: Name.nullable(), message: Message })) }).nullable()

/** 'taken': another discount already has the code. */
export type Written = 'written' | 'taken'

/** How far our clock may be ahead of the platform's, which would only schedule a discount that starts later than now. */
const AHEAD_MS = 10 * 60_000

/** Creates a discount. A repeat, also after a lost answer, gets 'taken'. */
export async function createDiscount(
  execute: Execute,
  wanted: WantedDiscount,
  at: Date
): Promise<ShopifyResult<Written>> {
  const input = await inputOf(execute, wanted, null)
  if (!input.ok) return input
  const reply = await execute(
    documents.createDiscount,
    {
      discount: {
        ...input.value,
        title: wanted.title,
        startsAt: startOf(at),
        combinesWith: { orderDiscounts: true }
      }
    },
    z.object({ discountCodeBasicCreate: Changed })
  )
  return reply.ok ? outcomeOf(reply.value.discountCodeBasicCreate) : reply
}

/** The platform removes a minimum only if both kinds are null. */
const NO_MINIMUM = {
  quantity: { greaterThanOrEqualToQuantity: null },
  subtotal: { greaterThanOrEqualToSubtotal: null }
}

const startOf = (at: Date): string => new Date(at.getTime() - AHEAD_MS).toISOString()

/**
 * Changes a discount of the shop to what is wanted, without a minimum and from now on. Its title stays, and so does who
 * may use it if that is as wanted: an operator may have restricted it to segments or markets.
 */
export async function updateDiscount(
  execute: Execute,
  found: FoundDiscount,
  wanted: WantedDiscount,
  at: Date
): Promise<ShopifyResult<Written>> {
  const input = await inputOf(execute, wanted, found)
  if (!input.ok) return input
  const discount = {
    ...input.value,
    ...(found.basic?.status === 'SCHEDULED' && { startsAt: startOf(at) }),
    ...(found.basic?.minimumRequirement && { minimumRequirement: NO_MINIMUM }),
    endsAt: null
  }
  const reply = await execute(
    documents.updateDiscount,
    { id: found.id, discount },
    z.object({ discountCodeBasicUpdate: Changed })
  )
  return reply.ok ? outcomeOf(reply.value.discountCodeBasicUpdate) : reply
}

/** Deactivates a discount; it stays for the orders that used it. */
export async function endDiscount(execute: Execute, { id }: FoundDiscount): Promise<ShopifyResult<Written>> {
  const reply = await execute(documents.endDiscount, { id }, z.object({ discountCodeDeactivate: Changed }))
  return reply.ok ? outcomeOf(reply.value.discountCodeDeactivate) : reply
}

function outcomeOf(changed: z.infer<typeof Changed>): ShopifyResult<Written> {
  if (!changed) return failed('bad_reply', 'The e-commerce platform did not confirm the discount.')
  if (changed.userErrors.length === 0) return done('written')
  if (changed.userErrors.some(error => error.code === 'TAKEN')) return done('taken')
  return failed('rejected', changed.userErrors.map(error => error.message).join('; '))
}

async function inputOf(
  execute: Execute,
  wanted: WantedDiscount,
  found: FoundDiscount | null
): Promise<ShopifyResult<Record<string, unknown>>> {
  const isKept = wanted.holder === null && found?.basic && isFor(found.basic.context, found.holderId, wanted)
  const context = isKept ? done({}) : await contextOf(execute, wanted, found)
  if (!context.ok) return context
  const value =
    wanted.unit === 'percent'
      ? { percentage: Math.round(Number(wanted.value) * 100) / 10_000 }
      : { discountAmount: { amount: wanted.value, appliesOnEachItem: false } }
  return done({
    code: wanted.code,
    tags: [...new Set([...(found?.basic?.tags ?? []), SHOP_DISCOUNT_TAG])],
    customerGets: { value, items: { all: true } },
    usageLimit: wanted.uses,
    appliesOncePerCustomer: wanted.oncePerCustomer,
    ...context.value
  })
}

/** Who may use it, in the platform's format. A holder who never bought becomes a customer there. */
async function contextOf(
  execute: Execute,
  { holder }: WantedDiscount,
  found: FoundDiscount | null
): Promise<ShopifyResult<object>> {
  if (holder === null) return done({ context: { all: 'ALL' } })
  const reply = await execute(
    documents.setCustomer,
    { email: addressThere(holder) },
    z.object({
      customerSet: z.object({ customer: z.object({ id: Name }).nullable(), userErrors: UserErrors }).nullable()
    })
  )
  if (!reply.ok) return reply
  const set = reply.value.customerSet
  if (!set) return failed('bad_reply', 'The e-commerce platform did not identify the customer.')
  if (!set.customer) return failed('rejected', set.userErrors.map(error => error.message).join('; '))
  const id = set.customer.id
  const others = customersOf(found?.basic?.context).filter(one => one !== id)
  return done({ context: { customers: { add: [id], remove: others } } })
}
