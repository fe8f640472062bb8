import type { Product } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { useT } from '../i18n/index.ts'
import { numberText } from '../kit/money.ts'
import classes from './stock.module.css'

export const activeVariants = (product: Product) => product.variants.filter(variant => variant.is_active)

/** The most addresses of one variant. A sum would count a server group shared by two variants twice. */
export const stockOf = (product: Product) =>
  activeVariants(product).reduce((most, variant) => Math.max(most, variant.variant_stock), 0)

export function productPath(product: Product): string {
  const collection = product.product_collections[0]
  return collection
    ? `${pageAt('product')}?parId=${collection.id}&id=${product.id}`
    : `${pageAt('product')}?id=${product.id}`
}

export function Stock({ count }: { count: number }) {
  const t = useT()
  const level = count <= 0 ? 'none' : count < 64 ? 'few' : 'many'
  return (
    <span
      className={`row unwrapped inline unbroken num ${classes.stock}`}
      style={{ gap: '0.45rem' }}
      data-level={level}
    >
      {count <= 0 ? t('stock.none') : t('stock.count', { count: numberText(count) })}
    </span>
  )
}
