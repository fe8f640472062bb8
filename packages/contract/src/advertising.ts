// What visitors are shown of the catalogue before they choose anything.
import { z } from 'zod'
import { Money } from './shapes.ts'
import { Translations } from './translations.ts'

/** An access rule as the shop advertises it. */
export const OfferedRule = z.object({
  acl_id: z.number(),
  acl_name: z.string(),
  /** Added to the price of each address. */
  price: Money,
  /** The first of its sites, by name; `domain_count` is how many there are. */
  domains: z.array(z.string()),
  domain_count: z.number(),
  /** Products on sale that have addresses under it now. */
  product_count: z.number(),
  translations: Translations
})
export type OfferedRule = z.infer<typeof OfferedRule>

/** The most cells of a product's picture. */
export const PICTURE_CELLS = 240
/** What a full cell has; an empty one has 0. */
export const PICTURE_LEVELS = 4

/** How much of a product's addresses is leased, as a picture: each cell is as large a block, of at least 16 addresses. */
export const OccupancyPicture = z.object({
  /** Of each block how much is leased under any rule, to the nearest quarter: 0 to 4. Empty where there is too little to draw. */
  cells: z.array(z.int().min(0).max(PICTURE_LEVELS)).max(PICTURE_CELLS)
})
export type OccupancyPicture = z.infer<typeof OccupancyPicture>
