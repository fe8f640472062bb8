import type { AddressFamily, OccupancyPicture } from '@netlet/contract'
import { and, asc, eq, isNotNull, isNull } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { pictureOf } from '../inventory/index.ts'
import { onSale } from './list-products.ts'
import { products, variants } from './tables.ts'

type Source = { groupId: number; family: AddressFamily }

/** The groups and families of a product's addresses, in a stable order; undefined if it is not sold. */
export async function rangesSoldBy(db: Executor, productId: number): Promise<Source[] | undefined> {
  const rows = await db
    .selectDistinct({ groupId: variants.serverGroupId, family: variants.addressFamily })
    .from(products)
    .leftJoin(
      variants,
      and(
        eq(variants.productId, products.id),
        variants.isActive,
        isNull(variants.deletedAt),
        isNotNull(variants.serverGroupId)
      )
    )
    .where(and(eq(products.id, productId), isNull(products.deletedAt), onSale()))
    .orderBy(asc(variants.serverGroupId), asc(variants.addressFamily))
  if (rows.length === 0) return undefined
  return rows.flatMap(({ groupId, family }) => (groupId === null || family === null ? [] : [{ groupId, family }]))
}

export const readOccupancy = async (db: Executor, sources: readonly Source[]): Promise<OccupancyPicture> => ({
  cells: await pictureOf(db, sources)
})
