export type GidKind = 'Product' | 'ProductVariant' | 'Collection' | 'Order' | 'Refund' | 'WebhookSubscription'

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
