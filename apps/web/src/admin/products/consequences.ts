import type { Product, ServerGroup } from '@netlet/contract'
import { queryClient, read } from '../../api/query.ts'
import { catalog, orders } from '../../api/routes.ts'
import { money } from '../../kit/money.ts'
import type { T } from '../kit/index.ts'
import type { Draft } from './draft.ts'

type Around = { product: Product; groups: readonly ServerGroup[]; t: T }

/**
 * What saving does beyond the product itself: to prices on the platform, stock and orders. Empty if nothing.
 * @throws ApiError if the figures cannot be read
 */
export async function consequencesOf(draft: Draft, { product, groups, t }: Around): Promise<string[]> {
  const lines: string[] = []
  const kept = new Map(draft.variants.flatMap(variant => (variant.id === undefined ? [] : [[variant.id, variant]])))
  const stops = product.variants.some(one => one.is_active && !kept.get(one.id)?.is_active)
  const hides = product.active && !draft.active
  const open =
    stops || hides
      ? await queryClient.fetchQuery({ ...read(orders.ofProduct, { params: { id: product.id } }), staleTime: 0 })
      : undefined
  const liveOf = (id: number) => open?.variants.find(one => one.id === id)?.live ?? 0
  if (hides) lines.push(t('products.willHide', { count: open?.live ?? 0 }))
  for (const variant of product.variants) {
    const name = variant.variant_name
    const next = kept.get(variant.id)
    if (!next) {
      lines.push(t('products.willGo', { name, count: liveOf(variant.id) }))
      continue
    }
    if (next.variant_price !== variant.variant_price)
      lines.push(t('products.willPrice', { name, was: money(variant.variant_price), is: money(next.variant_price) }))
    if (variant.is_active && !next.is_active) lines.push(t('products.willStop', { name, count: liveOf(variant.id) }))
    if (next.address_family !== variant.address_family)
      lines.push(t('products.willFamily', { name, family: t(`products.family.${next.address_family}`) }))
    if (next.server_group === (variant.server_group?.id ?? null)) continue
    if (next.server_group === null) {
      lines.push(t('products.willLeave', { name, was: variant.variant_stock }))
      continue
    }
    const query = { server_group: next.server_group, cart_step: variant.cart_step, address_family: next.address_family }
    const { stock } = await queryClient.fetchQuery(read(catalog.groupStock, { query }))
    const group = groups.find(one => one.id === next.server_group)?.name ?? String(next.server_group)
    lines.push(t('products.willMove', { name, group, was: variant.variant_stock, is: stock }))
  }
  return lines
}
