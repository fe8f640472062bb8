/** What the platform says of a product's sale. */
export type Sale = {
  /** A checkout takes it. */
  forSale: boolean
  /** For sale by its own link only. */
  unlisted: boolean
  /** For sale, but not in the Online Store, whose checkout our links lead to; null: the platform did not tell. */
  unpublished: boolean | null
}

/**
 * @param status as GraphQL or a webhook writes it: 'ACTIVE', 'active'
 * @param publishedAt null: not in the Online Store; undefined: not told, since the app may not read it
 */
export function saleOf(status: string, publishedAt: string | null | undefined): Sale {
  const upper = status.toUpperCase()
  const isActive = upper === 'ACTIVE' || upper === 'UNLISTED'
  const unpublished = isActive && publishedAt === undefined ? null : isActive && publishedAt === null
  return { forSale: isActive && unpublished !== true, unlisted: upper === 'UNLISTED', unpublished }
}
