import { pageAt } from '@netlet/contract/pages'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'react-router'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT as useShopT } from '../../i18n/index.ts'
import { useT } from '../../i18n/product.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { numberIn, useAddress } from '../../kit/use-address.ts'
import { useTitle } from '../../kit/use-title.ts'
import { PaymentDialog } from '../../kit/payment/payment-dialog.tsx'
import { useOpenPayment } from '../../kit/payment/pending.ts'
import { AskedRules, useProductPath } from './asked-rules.tsx'
import { readChoice } from './choice.ts'
import { CardSkeletons, ProductCard } from './product-card.tsx'
import { OneProduct } from './one-product.tsx'
import classes from './product.module.css'
import { useNames } from '../../i18n/names.ts'
import { gridStyle } from '../../kit/grid-style.ts'

/** The collections as links that can be bookmarked and shared. */
function CollectionFilter({ selected }: { selected: number | undefined }) {
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

export default function ProductPage() {
  const shopT = useShopT()
  const [query] = useSearchParams()
  const id = numberIn(query, 'id')
  const [payment, setPayment] = useOpenPayment()
  useTitle(shopT('nav.product'))
  return (
    <div className="wide page">
      {query.has('id') ? (
        <OneProduct key={id ?? 'none'} id={id} collection={numberIn(query, 'parId')} onOrdered={setPayment} />
      ) : (
        <Shelf collection={numberIn(query, 'parId')} />
      )}
      {payment && <PaymentDialog {...payment} onClose={() => setPayment(null)} />}
    </div>
  )
}

function Shelf({ collection }: { collection: number | undefined }) {
  const t = useT()
  const shopT = useShopT()
  // A link with one rule lists only plans that have addresses for it.
  const { rules } = readChoice(useAddress().query)
  const acl = rules.length === 1 ? rules[0] : undefined
  const { data, isPending, error, refetch } = useQuery(
    read(catalog.products, { query: { limit: 200, collection, acl } })
  )
  return (
    <>
      <h1>{t('product.title')}</h1>
      <p className="dim" style={{ marginTop: '0.4rem' }}>
        {t('product.lead')}
      </p>
      <CollectionFilter selected={collection} />
      <AskedRules collection={collection} />
      {error && !data ? (
        <div className="card">
          <ErrorState error={error} onRetry={() => void refetch()} />
        </div>
      ) : !isPending && data?.data.length === 0 ? (
        <div className="card">
          <NoProducts narrowed={collection !== undefined || acl !== undefined} />
        </div>
      ) : (
        <ul style={gridStyle('19rem')} aria-busy={isPending} aria-label={shopT('nav.product')}>
          {isPending ? (
            <CardSkeletons />
          ) : (
            data?.data.map(product => <ProductCard key={product.id} product={product} collection={collection} />)
          )}
        </ul>
      )}
    </>
  )
}

function NoProducts({ narrowed }: { /** To a collection or a rule. */ narrowed: boolean }) {
  const t = useT()
  const shopT = useShopT()
  return (
    <EmptyState title={t('product.none')} body={narrowed ? t('product.noneHint') : shopT('landing.emptyHint')}>
      <Button component={Link} to={narrowed ? pageAt('product') : `${pageAt('support')}#contact`} variant="default">
        {narrowed ? t('product.back') : shopT('support.write')}
      </Button>
    </EmptyState>
  )
}
