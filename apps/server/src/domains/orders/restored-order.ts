import { fromCents, RESERVATION_MINUTES, toCents } from '@netlet/contract'
import { and, inArray, isNull } from '../../infra/db/drizzle.ts'
import { MINUTE } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Secrets } from '../../infra/secrets.ts'
import { customerWith } from '../accounts/index.ts'
import { priceOneAddress } from '../catalog/index.ts'
import { variants } from '../catalog/tables.ts'
import { reserve, reserveThese } from '../inventory/index.ts'
import { aclRules } from '../inventory/tables.ts'
import type { HeldRanges } from '../settings/index.ts'
import { proxyCredentialsOf } from './place-order.ts'
import { ourVariants } from './current-terms.ts'
import { orders } from './tables.ts'
import { recordEvent, type OrderRow } from './transition.ts'

export type LostOrder = {
  publicId: string
  /** The payer's address: the customer's account may be lost too. */
  email: string
  /** The platform's variants that were paid, with their quantities. */
  lines: { variant: string; quantity: number }[]
  /** What agents hold, by user. */
  held: Record<string, HeldRanges>
}

/**
 * Places an order that was lost with a restore, as its payment describes it: one plan and its rules, in one quantity, beside other goods of the platform. It
 * gets the credentials that it had, and the addresses that agents still serve to them if these are free.
 * @returns undefined if the payment is for something else, or for something that is no longer sold
 */
export async function placeLostOrder(
  unit: Unit,
  secrets: Secrets,
  { publicId, email, lines: paid, held }: LostOrder
): Promise<OrderRow | undefined> {
  const { tx, now } = unit
  const ours = await ourVariants(
    tx,
    paid.map(({ variant }) => variant)
  )
  const lines = paid.filter(({ variant }) => ours.has(variant))
  const ids = lines.map(({ variant }) => variant)
  const [plan, ...more] = await tx
    .select()
    .from(variants)
    .where(and(inArray(variants.platformId, ids), isNull(variants.deletedAt)))
  const rules = await tx
    .select({ id: aclRules.id })
    .from(aclRules)
    .where(and(inArray(aclRules.platformVariantId, ids), isNull(aclRules.deletedAt)))
  const quantity = lines[0]?.quantity ?? 0
  const isWhole = more.length === 0 && rules.length === lines.length - 1 && new Set(ids).size === lines.length
  if (!plan || !isWhole || lines.some(line => line.quantity !== quantity)) return undefined
  const { option1, option2, option3, productId } = plan
  const options = { option1: option1 ?? '', option2: option2 ?? '', option3: option3 ?? '' }
  const priced = await priceOneAddress(tx, { productId, options, rules: rules.map(({ id }) => id) })
  if (!priced.ok) return undefined
  const { variant, basePrice, aclPrice, price, rulePlatformVariants, ruleNames } = priced.data
  if (quantity < variant.step || quantity % variant.step !== 0) return undefined
  const userId = await customerWith(unit, email)
  if (userId === undefined) return undefined
  const possible = [secrets, ...(secrets.previous ? [secrets.previous] : [])].map(one =>
    proxyCredentialsOf(one, publicId)
  )
  const credentials = possible.find(one => held[one.proxyUsername]) ?? proxyCredentialsOf(secrets, publicId)
  const [order] = await tx
    .insert(orders)
    .values({
      publicId,
      userId,
      productId: variant.productId,
      variantId: variant.variantId,
      serverGroupId: variant.groupId,
      productName: variant.productName,
      variantName: variant.variantName,
      quantity,
      cartStep: variant.step,
      proxyTime: variant.proxyTime,
      limits: variant.limits,
      addressFamily: variant.family,
      egress: variant.egress,
      variantPrice: basePrice,
      aclPrice,
      amount: fromCents(BigInt(quantity) * toCents(price)),
      rules: priced.data.rules,
      lines: [
        { variant: variant.platformVariantId, name: variant.variantName, quantity },
        ...rulePlatformVariants.map((rule, at) => ({ variant: rule, name: ruleNames[at] ?? rule, quantity }))
      ],
      reservedUntil: new Date(now.getTime() + RESERVATION_MINUTES * MINUTE),
      createdAt: now,
      ...credentials
    })
    .returning()
  if (!order) throw new Error('the order was not added')
  unit.publish('order', order.id, userId)
  await recordEvent(unit, order.id, 'placed', {
    amount: order.amount,
    reserved_until: order.reservedUntil.toISOString()
  })
  const wanted = {
    orderId: order.id,
    groupId: order.serverGroupId,
    step: order.cartStep,
    rules: order.rules,
    quantity,
    family: order.addressFamily
  }
  const served = held[credentials.proxyUsername]
  // Without addresses the payment finds the order without any, and an administrator decides.
  if (!served || !(await reserveThese(tx, wanted, served))) await reserve(tx, wanted)
  return order
}
