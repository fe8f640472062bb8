import { createHmac, timingSafeEqual } from 'node:crypto'
import { PlatformStock } from '@netlet/contract'
import { z } from 'zod'
import { startOf } from '../../infra/text.ts'
import { Money, fromGid, hasNoOptions, saleOf, stockIfSold } from './shapes.ts'
import { versionOf } from './documents.ts'
import { foreignList } from '@netlet/contract/foreign'
import { Message, Name, Page, Words } from '../foreign-texts.ts'

/** Is the header the base64 HMAC-SHA256 of these bytes under the app's secret? An empty secret verifies nothing. */
export function verifyWebhook(rawBody: Uint8Array, hmacHeader: string | undefined, secret: string): boolean {
  if (!hmacHeader || secret === '') return false
  const expected = createHmac('sha256', secret).update(rawBody).digest()
  const given = Buffer.from(hmacHeader, 'base64')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** The headers of a delivery. `webhookId` is the delivery's own, and the same when it is sent again. */
export type WebhookHeaders = {
  topic: string
  webhookId: string
  shopDomain: string
  triggeredAt: string | null
  apiVersion: string | null
}

/** Reads lower-case header names, as Node provides them; null if the topic or the id is missing. */
export function webhookHeaders(headers: Record<string, string | string[] | undefined>): WebhookHeaders | null {
  const read = (name: string) => {
    const value = headers[name]
    // The id becomes a database key, and no real one is longer.
    return typeof value === 'string' && value !== '' && value.length <= 255 ? value : null
  }
  const topic = read('x-shopify-topic')
  const webhookId = read('x-shopify-webhook-id')
  if (!topic || !webhookId) return null
  return {
    topic,
    webhookId,
    shopDomain: read('x-shopify-shop-domain')?.toLowerCase() ?? '',
    triggeredAt: read('x-shopify-triggered-at'),
    apiVersion: versionOf(headers['x-shopify-api-version'])
  }
}

/** Ids are JSON numbers, or text beyond the safe integers (`parseExact`); ours are strings. */
const NumericId = z.union([z.number().refine(Number.isSafeInteger), z.string().regex(/^\d{1,20}$/)]).transform(String)

/**
 * Text that buyers control: a checkout's attribute may have 100,000 characters. It is cut here, because mails, outcomes
 * and notes contain it. The values that we look up are shorter.
 */
const Text = (length: number) => z.string().transform(text => startOf(text, length))
const NAME = 100
/** Above the platform's own limits: 2,048 variants, 500 lines. */
const MOST_ROWS = 5000
const EMAIL = 320

/** A non-negative amount that fits our columns. */
const Amount = z.string().regex(/^\d{1,10}(\.\d{1,30})?$/)

const LineItem = z.object({
  id: NumericId,
  product_id: NumericId.nullish(),
  variant_id: NumericId.nullish(),
  title: Text(NAME),
  variant_title: Text(NAME).nullish(),
  quantity: z.number().int(),
  /** Less than `quantity` after an edit or a refund of the order. */
  current_quantity: z.number().int().nullish(),
  price: Money,
  total_discount: Money.optional(),
  tip_payment_gateway: z.unknown().optional(),
  tip: z.unknown().optional()
})

/** Is the line a tip, which has no variant? Only tips have one of these fields, and it may be null. */
export const isTip = (line: Pick<z.infer<typeof LineItem>, 'tip_payment_gateway' | 'tip'>): boolean =>
  line.tip_payment_gateway !== undefined || line.tip !== undefined

/** The `orders/paid` event, and `orders/create`, which comes before the payment. Money is decimal strings, ids are strings; unknown fields are ignored. */
export const PaidOrder = z.object({
  id: NumericId,
  order_number: z.number().int(),
  name: Text(NAME),
  email: Text(EMAIL).nullish(),
  contact_email: Text(EMAIL).nullish(),
  currency: Text(10),
  financial_status: Name.nullish(),
  /** What was asked for at first. */
  total_price: Amount,
  /** Less what was taken off since. */
  current_total_price: Amount.nullish(),
  /** Below zero where the buyer is owed something. */
  total_outstanding: Money.nullish(),
  /** The total that the buyer was charged, in the buyer's currency. */
  total_price_set: z
    .object({ presentment_money: z.object({ amount: Amount, currency_code: Text(10) }).nullish() })
    .nullish(),
  subtotal_price: Money,
  total_discounts: Amount,
  discount_codes: foreignList(z.object({ code: Text(255), amount: Money, type: Name.nullish() }), MOST_ROWS).default(
    []
  ),
  note: Text(NAME).nullish(),
  note_attributes: foreignList(
    z.object({
      name: Text(NAME),
      value: z.union([Text(NAME), z.number(), z.boolean(), z.null()]).transform(value => String(value ?? ''))
    }),
    MOST_ROWS
  ).default([]),
  line_items: foreignList(LineItem, MOST_ROWS).default([]),
  customer: z.object({ id: NumericId, email: Text(EMAIL).nullish() }).nullish(),
  created_at: Name.nullish(),
  processed_at: Name.nullish(),
  cancelled_at: Name.nullish(),
  updated_at: Name.nullish(),
  test: z.boolean().nullish()
})
export type PaidOrder = z.infer<typeof PaidOrder>

/** The `orders/cancelled` event, with the fields that we use. */
export const CancelledOrder = z.object({
  id: NumericId,
  name: Text(NAME),
  cancelled_at: Name.nullish(),
  /** 'paid' if nothing was refunded. */
  financial_status: Name.nullish(),
  updated_at: Name.nullish()
})
export type CancelledOrder = z.infer<typeof CancelledOrder>

/** The `refunds/create` event. A refund without a successful transaction returns goods, but no money. */
export const RefundEvent = z.object({
  id: NumericId,
  order_id: NumericId,
  // Their sum must fit our columns too.
  transactions: foreignList(
    z.object({
      kind: Name,
      status: Name,
      amount: Amount,
      currency: Name.nullish(),
      manual_payment_gateway: z.boolean().nullish()
    }),
    100
  ).default([])
})
export type RefundEvent = z.infer<typeof RefundEvent>

/** The `order_transactions/create` event: a payment or a refund was made or failed, also one that was pending before. */
export const TransactionEvent = z.object({ id: NumericId, order_id: NumericId, kind: Name, status: Name })
export type TransactionEvent = z.infer<typeof TransactionEvent>

/** The `disputes/create` and `disputes/update` events: a buyer's bank takes the money back, or asks about it. */
export const DisputeEvent = z.object({
  id: NumericId,
  order_id: NumericId.nullable(),
  /** 'chargeback' or 'inquiry': an inquiry does not take money yet. */
  type: Name,
  /** Null if unknown. */
  amount: Amount.nullish(),
  currency: Name.nullish(),
  reason: Message.nullish(),
  status: Name,
  /** When it was decided. */
  finalized_on: Name.nullish()
})
export type DisputeEvent = z.infer<typeof DisputeEvent>

/** The notes of our checkout links. They identify our order if a wallet's checkout drops the attributes. */
export const purchaseNote = (order: string): string => `Order ${order}`
export const renewalNote = (order: string, days: number): string =>
  `Renewal of order ${order} for ${days === 1 ? '1 day' : `${days} days`}`
const NOTE = /^(Order|Renewal of order) (NL-[\w-]{1,37})(?: for \d+ days?)?$/
/** The form of our public numbers. Other apps of the platform may have an attribute `order_id` too. */
const OURS = /^NL-/

/** Our order that a paid order names, by the attributes of our checkout link or else by its note; null if none. */
export function readOrderReference({
  note_attributes,
  note
}: Pick<PaidOrder, 'note_attributes' | 'note'>): { order: string; isRenewal: boolean; isByNote: boolean } | null {
  const valueOf = (name: string) => note_attributes.find(attribute => attribute.name === name)?.value
  const order = valueOf('order_id')
  if (order && OURS.test(order)) return { order, isRenewal: valueOf('renewal') === '1', isByNote: false }
  const [, words, named] = NOTE.exec(note ?? '') ?? []
  return named ? { order: named, isRenewal: words !== 'Order', isByNote: true } : null
}

/** Product events describe this many variants. For the others they contain only ids. */
const DESCRIBED = 100

/**
 * The `products/create` and `products/update` events. `tags` is split; a variant's options are in order.
 * `otherVariants`: ids of variants that the event does not describe; null if there may be some that it does not name.
 */
export const ProductEvent = z
  .object({
    id: NumericId,
    title: Name,
    body_html: Page.nullish(),
    status: Name,
    tags: Words.transform(list =>
      list
        .split(',')
        .map(tag => tag.trim())
        .filter(tag => tag !== '')
    ),
    published_at: Name.nullish(),
    /** Not told by webhooks, only by readings of the product. */
    requires_selling_plan: z.boolean().nullish(),
    updated_at: Name.nullish(),
    options: foreignList(z.object({ name: Name, values: foreignList(Name, MOST_ROWS) }), MOST_ROWS).default([]),
    variants: foreignList(
      z.object({
        id: NumericId,
        title: Name,
        price: Amount,
        position: z.number().int(),
        option1: Name.nullish(),
        option2: Name.nullish(),
        option3: Name.nullish(),
        /** Not told by webhooks, only by readings of the product. */
        stock: PlatformStock.optional(),
        shipped: z.boolean().optional()
      }),
      MOST_ROWS
    ).default([]),
    variant_gids: foreignList(z.object({ admin_graphql_api_id: Name }), MOST_ROWS).nullish()
  })
  .transform(({ variant_gids: gids, ...event }) => {
    const described = new Set(event.variants.map(({ id }) => id))
    const others = gids?.map(one => fromGid(one.admin_graphql_api_id)).filter(id => !described.has(id))
    const sale = saleOf(event.status, event.published_at, event.requires_selling_plan)
    const isPlain = hasNoOptions(event.options)
    return {
      ...event,
      ...sale,
      options: isPlain ? [] : event.options,
      variants: event.variants.map(({ stock, shipped, ...variant }) => ({
        ...variant,
        ...(isPlain ? { title: event.title, option1: null } : {}),
        stock: stockIfSold(sale, stock),
        shipped: sale.forSale && shipped
      })),
      otherVariants: others ?? (described.size < DESCRIBED ? [] : null)
    }
  })
export type ProductEvent = z.infer<typeof ProductEvent>

/** The `products/delete` event. It contains only the id. */
export const ProductDeletedEvent = z.object({ id: NumericId })
export type ProductDeletedEvent = z.infer<typeof ProductDeletedEvent>
