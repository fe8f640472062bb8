export type GidKind = 'Product' | 'ProductVariant' | 'Collection' | 'Order' | 'Refund' | 'WebhookSubscription'

/** Our side keeps the number as a string ('123'); the platform's GraphQL speaks `gid://shopify/Product/123`. */
export const toGid = (kind: GidKind, id: string): string => `gid://shopify/${kind}/${id}`

/** 'gid://shopify/Product/123' and 'gid://shopify/Product/123?x=1' → '123'. Anything else comes back as it is. */
export const fromGid = (gid: string): string => /^gid:\/\/shopify\/\w+\/([^/?]+)/.exec(gid)?.[1] ?? gid
