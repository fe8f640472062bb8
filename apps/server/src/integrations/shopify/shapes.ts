import type { PlatformStock } from '@netlet/contract'
import { compile } from 'html-to-text'
import { z } from 'zod'
import { Address, Message, Name, Note, Page } from '../foreign-texts.ts'

type GidKind = 'Product' | 'ProductVariant' | 'Collection' | 'Order' | 'Refund' | 'WebhookSubscription' | 'Publication'

/** We store the number as a string ('123'); the platform's GraphQL uses `gid://shopify/Product/123`. */
export const toGid = (kind: GidKind, id: string): string => `gid://shopify/${kind}/${id}`

/** 'gid://shopify/Product/123' and 'gid://shopify/Product/123?x=1' → '123'. Other text is returned unchanged. */
export const fromGid = (gid: string): string => /^gid:\/\/shopify\/\w+\/([^/?]+)/.exec(gid)?.[1] ?? gid

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown

/** Keeps a whole number as text if a JavaScript number would round it. */
const exact: Reviver = (_key, value, { source = '' }) =>
  typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? source : value

/** Parses JSON of the platform's webhooks, whose ids have up to 64 bits. @throws if the text is not JSON */
export const parseExact = (text: string): unknown => JSON.parse(text, exact as Parameters<typeof JSON.parse>[1])

const line = { leadingLineBreaks: 1, trailingLineBreaks: 1 }

const toText = compile({
  wordwrap: false,
  selectors: [
    { selector: 'a', format: 'inline' },
    ...['p', 'div', 'blockquote', 'table', 'tr'].map(selector => ({ selector, format: 'block', options: line })),
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map(selector => ({ selector, format: 'block', options: line })),
    ...['ul', 'ol'].map(selector => ({
      selector,
      format: 'unorderedList',
      options: { ...line, itemPrefix: '• ' }
    })),
    ...['img', 'script', 'style'].map(selector => ({ selector, format: 'skip' }))
  ]
})

/**
 * A product description as plain text with its paragraphs. The platform's own `description` field joins everything into
 * one line, which is hard to read for lists. Callers escape the result.
 */
export const htmlToText = (html: string): string => toText(html).replace(/\n{3,}/g, '\n\n')

/** How the platform sells a product. */
export type Sale = {
  /** Checkouts accept it. */
  forSale: boolean
  /** For sale by its own link only. */
  unlisted: boolean
  /** For sale, but not in the Online Store, whose checkout our links use; null if unknown. */
  unpublished: boolean | null
  /** For sale with a selling plan only, which our checkout links cannot buy; null if unknown. */
  subscriptionOnly: boolean | null
}

/** The statuses of a product that we know. One with another status is not for sale. */
export const PRODUCT_STATUSES: readonly string[] = ['ACTIVE', 'ARCHIVED', 'DRAFT', 'UNLISTED']

/**
 * @param status as GraphQL or a webhook writes it: 'ACTIVE', 'active'
 * @param publishedAt null, or in the future: not in the Online Store; undefined: unknown, because the app may not read it
 * @param requiresSellingPlan undefined or null: unknown, because a webhook does not tell
 */
export function saleOf(
  status: string,
  publishedAt: string | null | undefined,
  requiresSellingPlan: boolean | null | undefined
): Sale {
  const upper = status.toUpperCase()
  const isActive = upper === 'ACTIVE' || upper === 'UNLISTED'
  const isOut = publishedAt === null || Date.parse(publishedAt ?? '') > Date.now()
  const unpublished = isActive && publishedAt === undefined ? null : isActive && isOut
  const subscriptionOnly = isActive ? (requiresSellingPlan ?? null) : false
  const forSale = isActive && unpublished !== true && subscriptionOnly !== true
  return { forSale, unlisted: upper === 'UNLISTED', unpublished, subscriptionOnly }
}

/**
 * The platform gives a product without options one option with one value, and its only variant the same name. Customers
 * have nothing to choose, and should not read it.
 */
export const hasNoOptions = (options: readonly { values: readonly string[] }[]): boolean =>
  options.length === 1 && options[0]?.values.join() === 'Default Title'

/** The stock of a variant whose product is not for sale does not matter: the platform may call it sold out. */
export const stockIfSold = <T>({ forSale }: Sale, stock: T): T | 'none' => (forSale ? stock : 'none')

const Gid = Name.transform(fromGid)
/** Exact decimal as the platform writes it; never a number. */
export const Money = z
  .string()
  .max(50)
  .regex(/^-?\d+(\.\d+)?$/)
const MoneyBag = z.object({ shopMoney: z.object({ amount: Money }) }).transform(bag => bag.shopMoney.amount)

const PageInfo = z.object({ hasNextPage: z.boolean(), endCursor: Address.nullable() })

/** A page of a connection; `next` is the cursor of the next page, or null on the last one. */
export const page = <T extends z.ZodType>(node: T) =>
  z
    .object({ nodes: z.array(node), pageInfo: PageInfo })
    .transform(({ nodes, pageInfo }) => ({ nodes, next: pageInfo.hasNextPage ? pageInfo.endCursor : null }))

const Stock = z.object({
  availableForSale: z.boolean(),
  /** In the Online Store; undefined: not asked for. */
  publishedOnPublication: z.boolean().optional(),
  inventoryPolicy: Name,
  inventoryItem: z.object({ tracked: z.boolean(), requiresShipping: z.boolean().nullish() }).nullish()
})

function stockOf({
  availableForSale,
  publishedOnPublication,
  inventoryPolicy,
  inventoryItem
}: z.infer<typeof Stock>): PlatformStock {
  if (!availableForSale || publishedOnPublication === false) return 'sold_out'
  return inventoryItem?.tracked && inventoryPolicy === 'DENY' ? 'counted' : 'none'
}

export const Variant = Stock.extend({
  id: Gid,
  title: Name,
  price: Money,
  position: z.number().int(),
  selectedOptions: z.array(z.object({ name: Name, value: Name }))
}).transform(({ availableForSale, publishedOnPublication, inventoryPolicy, inventoryItem, ...rest }) => ({
  ...rest,
  stock: stockOf({ availableForSale, publishedOnPublication, inventoryPolicy, inventoryItem }),
  /** The checkout asks for an address, and for a shipping rate. */
  shipped: inventoryItem?.requiresShipping === true
}))

export const InCollection = z.object({ id: Gid, title: Name })

export const Product = z
  .object({
    id: Gid,
    title: Name,
    descriptionHtml: Page,
    status: Name,
    tags: z.array(Name),
    publishedAt: Name.nullish(),
    requiresSellingPlan: z.boolean().nullish(),
    updatedAt: Name,
    options: z.array(z.object({ name: Name, values: z.array(Name) })),
    collections: page(InCollection),
    variants: page(Variant)
  })
  .transform(({ descriptionHtml, collections, variants, ...rest }) => ({
    ...rest,
    ...saleOf(rest.status, rest.publishedAt, rest.requiresSellingPlan),
    description: htmlToText(descriptionHtml),
    collections: collections.nodes,
    moreCollections: collections.next,
    ...(hasNoOptions(rest.options)
      ? { options: [], variants: variants.nodes.map(one => ({ ...one, title: rest.title, selectedOptions: [] })) }
      : { variants: variants.nodes }),
    moreVariants: variants.next
  }))

/** A variant without its product: its price, and whether it is for sale. */
export const PricedVariant = Stock.extend({
  id: Gid,
  price: Money,
  sellableOnlineQuantity: z.number().int(),
  product: z.object({
    id: Gid,
    status: Name,
    publishedAt: Name.nullish(),
    requiresSellingPlan: z.boolean().nullish(),
    updatedAt: Name
  })
}).transform(({ id, price, product, sellableOnlineQuantity, ...stocked }) => {
  const sale = saleOf(product.status, product.publishedAt, product.requiresSellingPlan)
  const stock = stockIfSold(sale, stockOf(stocked))
  return {
    id,
    price,
    productId: product.id,
    ...sale,
    /** Its product is for sale; the variant itself may be sold out. */
    isProductForSale: sale.forSale,
    forSale: sale.forSale && stock !== 'sold_out',
    stock,
    shipped: sale.forSale && stocked.inventoryItem?.requiresShipping === true,
    /** How many a checkout takes at most; null: any number. */
    left: stock === 'counted' ? sellableOnlineQuantity : null,
    updatedAt: new Date(product.updatedAt)
  }
})

/** Names of plans without a checkout, as the platform documents them. */
const CLOSED_PLANS: ReadonlySet<string> = new Set(['Paused', 'Inactive'])

export const ShopInfo = z
  .object({
    shop: z.object({
      name: Name,
      currencyCode: Name,
      myshopifyDomain: z.string().max(255),
      plan: z.object({ publicDisplayName: Name }).nullish().catch(null)
    }),
    currentAppInstallation: z.object({ accessScopes: z.array(z.object({ handle: Name })) })
  })
  .transform(({ shop, currentAppInstallation }) => ({
    name: shop.name,
    currency: shop.currencyCode,
    domain: shop.myshopifyDomain.toLowerCase(),
    /** Its owner has paused it, or closed it: the checkout takes no payment. */
    paused: CLOSED_PLANS.has(shop.plan?.publicDisplayName ?? ''),
    scopes: currentAppInstallation.accessScopes.map(scope => scope.handle)
  }))

export const StorePassword = z
  .object({ onlineStore: z.object({ passwordProtection: z.object({ enabled: z.boolean() }) }) })
  .transform(({ onlineStore }) => onlineStore.passwordProtection.enabled)

export const Collection = z
  .object({
    id: Gid,
    title: Name,
    descriptionHtml: Page,
    image: z.object({ url: Address, altText: Name.nullable() }).nullable()
  })
  .transform(({ descriptionHtml, ...rest }) => ({ ...rest, description: htmlToText(descriptionHtml) }))

export const Line = z
  .object({
    id: Gid,
    title: Name,
    quantity: z.number().int(),
    currentQuantity: z.number().int(),
    variant: z.object({ id: Gid }).nullable(),
    originalUnitPriceSet: MoneyBag
  })
  .transform(({ variant, originalUnitPriceSet, ...rest }) => ({
    ...rest,
    variantId: variant?.id ?? null,
    price: originalUnitPriceSet
  }))

export const MoneyInBoth = z.object({
  shopMoney: z.object({ amount: Money }),
  presentmentMoney: z.object({ amount: Money, currencyCode: Name }).nullish()
})

/** Money in the buyer's currency, in the shape of a webhook. */
export const buyerMoney = (money: { amount: string; currencyCode: string } | null | undefined) =>
  money ? { amount: money.amount, currency_code: money.currencyCode } : null

/** A dispute in an order's summary: an inquiry may have become a chargeback since. Its id is that of its webhooks. */
const Dispute = z
  .object({ id: Gid, initiatedAs: Name, status: Name })
  .transform(({ id, initiatedAs, status }) => ({ id, type: initiatedAs.toLowerCase(), status: status.toLowerCase() }))

/** A dispute in the shop's list: its type and decision are those of now. */
export const ListedDispute = z
  .object({
    id: Gid,
    type: Name,
    status: Name,
    finalizedOn: Name.nullish(),
    amount: z.object({ amount: Money, currencyCode: Name }),
    order: z.object({ id: Gid }).nullable()
  })
  .transform(({ type, status, amount: { amount, currencyCode }, order, ...rest }) => ({
    ...rest,
    type: type.toLowerCase(),
    status: status.toLowerCase(),
    amount,
    currency: currencyCode,
    platformOrderId: order?.id ?? null
  }))

export const Order = z
  .object({
    id: Gid,
    name: Name,
    number: z.number().int(),
    email: Name.nullish(),
    note: Note.nullable(),
    tags: z.array(Name),
    createdAt: Name,
    updatedAt: Name,
    cancelledAt: Name.nullable(),
    currencyCode: Name,
    displayFinancialStatus: Name.nullable(),
    test: z.boolean(),
    lineItems: page(Line),
    refunds: z.array(z.object({ id: Gid.nullable(), totalRefundedSet: MoneyInBoth })),
    disputes: z.array(Dispute).nullish(),
    discountCodes: z.array(Name),
    customAttributes: z.array(z.object({ key: Name, value: Name.nullable() })),
    fullyPaid: z.boolean(),
    totalReceivedSet: MoneyInBoth,
    subtotalPriceSet: MoneyBag.nullable(),
    totalDiscountsSet: MoneyBag.nullable()
  })
  .transform(order => ({
    id: order.id,
    name: order.name,
    number: order.number,
    email: order.email ?? null,
    note: order.note,
    tags: order.tags,
    createdAt: order.createdAt,
    updatedAt: order.updatedAt,
    cancelledAt: order.cancelledAt,
    test: order.test,
    lines: order.lineItems.nodes,
    moreLines: order.lineItems.next,
    /** `buyer`: the same refund in the buyer's currency. */
    refunds: order.refunds.flatMap(({ id, totalRefundedSet: { shopMoney, presentmentMoney } }) =>
      id ? [{ id, amount: shopMoney.amount, buyer: buyerMoney(presentmentMoney) }] : []
    ),
    disputes: order.disputes ?? [],
    currency: order.currencyCode,
    paid: order.displayFinancialStatus === 'PAID',
    // The platform gives this status to orders that were only partly paid, too.
    financialStatus:
      order.displayFinancialStatus === 'PARTIALLY_REFUNDED' && !order.fullyPaid
        ? 'PARTIALLY_PAID'
        : order.displayFinancialStatus,
    discountCodes: order.discountCodes,
    attributes: Object.fromEntries(order.customAttributes.map(({ key, value }) => [key, value ?? ''])),
    /** What the buyer paid, even if the order was edited before that. */
    received: order.totalReceivedSet.shopMoney.amount,
    /** The same in the buyer's currency, in the shape of a webhook. */
    buyerReceived: buyerMoney(order.totalReceivedSet.presentmentMoney),
    subtotalPrice: order.subtotalPriceSet,
    totalDiscounts: order.totalDiscountsSet ?? '0.00'
  }))

export type ShopifyVariant = z.infer<typeof Variant>
/** Ids are numbers as strings, prices decimal strings, the description plain text. */
export type ShopifyProduct = Omit<z.infer<typeof Product>, 'moreVariants' | 'moreCollections'>
/** `updatedAt` is the product's, so that callers can ignore older versions. */
export type ShopifyPricedVariant = z.infer<typeof PricedVariant>
export type ShopifyShop = z.infer<typeof ShopInfo>
export type ShopifyCollection = z.infer<typeof Collection>
/** A platform order for reconciliation: `attributes.order_id` names ours, money is decimal strings. */
export type ShopifyOrder = Omit<z.infer<typeof Order>, 'moreLines'>

export type ShopifyDispute = z.infer<typeof ListedDispute>

export const UserErrors = z.array(z.object({ field: z.array(Name).nullable(), message: Message }))
