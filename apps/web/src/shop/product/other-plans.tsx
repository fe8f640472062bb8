import type { Product } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/product.ts'
import { stockOf } from '../product-facts.ts'
import { ProductCard } from './product-card.tsx'
import classes from './product.module.css'
import { gridStyle } from '../../kit/grid-style.ts'

const MOST = 3

/** Plans that share a tag: those in stock first, then by the number of shared tags. */
export function OtherPlans({ product }: { product: Product }) {
  const t = useT()
  const tags = product.product_tags.map(tag => tag.id)
  const { data } = useQuery({
    ...read(catalog.recommended, { query: { tags: tags.join(',') } }),
    enabled: tags.length > 0
  })
  const shared = (other: Product) => other.product_tags.filter(tag => tags.includes(tag.id)).length
  const others = data
    ?.filter(other => other.id !== product.id)
    .toSorted((a, b) => Number(stockOf(b) > 0) - Number(stockOf(a) > 0) || shared(b) - shared(a))
    .slice(0, MOST)
  if (!others?.length) return null
  return (
    <section aria-labelledby="others" className={classes.others}>
      <h2 id="others">{t('product.others')}</h2>
      <ul style={gridStyle('19rem')}>
        {others.map(other => (
          <ProductCard key={other.id} product={other} collection={undefined} level={3} />
        ))}
      </ul>
    </section>
  )
}
