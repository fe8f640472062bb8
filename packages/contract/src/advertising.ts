// What visitors see of the catalogue before they choose a product.
import { z } from 'zod'
import { Money } from './shapes.ts'
import { Translations } from './translations.ts'

/** An access rule as advertised in the shop. */
export const OfferedRule = z.object({
  acl_id: z.number(),
  acl_name: z.string(),
  /** Added to the price of each address. */
  price: Money,
  /** The first sites by name; `domain_count` is the total. */
  domains: z.array(z.string()),
  domain_count: z.number(),
  /** Products on sale with addresses under it now. */
  product_count: z.number(),
  translations: Translations
})
export type OfferedRule = z.infer<typeof OfferedRule>

/** Largest number of cells in a product's picture. */
export const PICTURE_CELLS = 240
/** The level of a full cell; an empty one is 0. */
export const PICTURE_LEVELS = 4

/** How much of a product's addresses is leased, as a picture of equal blocks of at least 16 addresses. */
export const OccupancyPicture = z.object({
  /** Each block's leased part, rounded to quarters: 0 to 4. Empty if there is too little to draw. */
  cells: z.array(z.int().min(0).max(PICTURE_LEVELS)).max(PICTURE_CELLS)
})
export type OccupancyPicture = z.infer<typeof OccupancyPicture>
