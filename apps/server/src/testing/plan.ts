import { products, variants } from '../domains/catalog/tables.ts'
import { serverGroups } from '../domains/fleet/tables.ts'
import { addRow, type Place } from './rows.ts'

/** A plan of $2.00 an address on a server group without servers: what a row of `orders` refers to. */
export async function addPlan(place: Place): Promise<{ productId: number; variantId: number; serverGroupId: number }> {
  const { id: serverGroupId } = await addRow(place, serverGroups, { name: 'here' })
  const { id: productId } = await addRow(place, products, { platformId: '1', name: 'Plan' })
  const variant = { productId, platformId: '2', name: 'Here', price: '2.00', serverGroupId }
  return { productId, variantId: (await addRow(place, variants, variant)).id, serverGroupId }
}
