import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT as useShopT } from '../../i18n/index.ts'
import { useT } from '../../i18n/product.ts'
import { useNames } from '../../i18n/names.ts'
import { useProductPath } from './asked-rules.tsx'
import classes from './product.module.css'

/** The collections as links that can be bookmarked and shared. */
export function CollectionFilter({ selected }: { selected: number | undefined }) {
  const t = useT()
  const names = useNames()
  const shopT = useShopT()
  const pathTo = useProductPath()
  const { data, isPending } = useQuery(read(catalog.collections, { query: { limit: 50 } }))
  return (
    <nav aria-label={shopT('landing.collections')} className={classes.filter}>
      <Link to={pathTo({})} aria-current={selected === undefined ? 'page' : undefined}>
        {t('product.all')}
      </Link>
      {isPending
        ? [1, 2, 3].map(key => <Skeleton key={key} height={38} width={130} />)
        : data?.data.map(collection => (
            <Link
              key={collection.id}
              to={pathTo({ collection: collection.id })}
              aria-current={selected === collection.id ? 'page' : undefined}
            >
              {names.collection(collection)} <span className="num">{collection.product_count}</span>
            </Link>
          ))}
    </nav>
  )
}
