export type GidKind = 'Product' | 'ProductVariant' | 'Collection' | 'Order' | 'Refund' | 'WebhookSubscription'

/** Our side keeps the number as a string ('123'); the platform's GraphQL speaks `gid://shopify/Product/123`. */
export const toGid = (kind: GidKind, id: string): string => `gid://shopify/${kind}/${id}`

/** 'gid://shopify/Product/123' and 'gid://shopify/Product/123?x=1' → '123'. Anything else comes back as it is. */
export const fromGid = (gid: string): string => /^gid:\/\/shopify\/\w+\/([^/?]+)/.exec(gid)?.[1] ?? gid

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown

/** A whole number that a JavaScript number would round stays the text that it was on the wire. */
const exact: Reviver = (_key, value, { source = '' }) =>
  typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? source : value

/** JSON of the platform's webhooks, whose ids are numbers of up to 64 bits. @throws where the text is no JSON */
export const parseExact = (text: string): unknown => JSON.parse(text, exact as Parameters<typeof JSON.parse>[1])
