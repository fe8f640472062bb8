import { pageAt } from '@netlet/contract/pages'
import { Button, Skeleton } from '@mantine/core'
import type { OfferedRule, Product } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import { Link, useSearchParams } from 'react-router'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT as useShopT } from '../../i18n/index.ts'
import { useT } from '../../i18n/product.ts'
import { passFocus } from '../../kit/focus-return.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { numberIn } from '../../kit/use-address.ts'
import { useTitle } from '../../kit/use-title.ts'
import { PaymentDialog } from '../../kit/payment/payment-dialog.tsx'
import { useOpenPayment } from '../../kit/payment/pending.ts'
import { AskedRules } from './asked-rules.tsx'
import { offersOf } from './filter-products.ts'
import { CardSkeletons, ProductCard } from './product-card.tsx'
import { OneProduct } from './one-product.tsx'
import { MOST_PRODUCTS, ShelfFilters, useShelfFilters } from './shelf-filters.tsx'
import classes from './product.module.css'
import { useLanguage } from '../../i18n/language.ts'
import { useNames } from '../../i18n/names.ts'
import { gridStyle } from '../../kit/grid-style.ts'

/** The collections as links that can be bookmarked and shared. They keep the other filters. */
function CollectionFilter({ selected }: { selected: number | undefined }) {
  const t = useT()
  const names = useNames()
  const shopT = useShopT()
  const [query] = useSearchParams()
  const pathTo = (id: number | null) => {
    const next = new URLSearchParams(query)
    if (id === null) next.delete('parId')
    else next.set('parId', String(id))
    return { search: next.toString() }
  }
  const { data, isPending } = useQuery(read(catalog.collections, { query: { limit: 50 } }))
  return (
    <nav aria-label={shopT('landing.collections')} className={classes.filter}>
      <Link to={pathTo(null)} aria-current={selected === undefined ? 'page' : undefined}>
        {t('product.all')}
      </Link>
      {isPending
        ? [1, 2, 3].map(key => <Skeleton key={key} height={38} width={130} />)
        : data?.data.map(collection => (
            <Link
              key={collection.id}
              to={pathTo(collection.id)}
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
  const language = useLanguage()
  const shelf = useShelfFilters()
  const bar = useRef<HTMLDivElement>(null)
  const { data, isPending, error, refetch } = useQuery(
    read(catalog.products, { query: { limit: MOST_PRODUCTS, collection } })
  )
  const rules = useQuery({ ...read(catalog.rules), staleTime: 60_000 })
  const offered = rules.data ?? NO_RULES
  const products = data?.data ?? NO_PRODUCTS
  const { filters } = shelf
  const offers = useMemo(
    () => offersOf(products, filters, { offered, language }),
    [products, filters, offered, language]
  )
  const left = offers.length - shelf.shown
  // The button moves away, so go on at the first product that it adds.
  const list = useRef<HTMLUListElement>(null)
  const next = useRef<number>(null)
  useEffect(() => {
    if (next.current === null) return
    list.current?.children[next.current]?.querySelector('a')?.focus({ preventScroll: true })
    next.current = null
  }, [shelf.shown])
  const isNone = !isPending && offers.length === 0
  return (
    <>
      <h1>{t('product.title')}</h1>
      <p className="dim" style={{ marginTop: '0.4rem' }}>
        {t('product.lead')}
      </p>
      <CollectionFilter selected={collection} />
      <div ref={bar} className={classes.shelf}>
        <ShelfFilters shelf={shelf} products={products} offered={offered} />
        <p className="dim size-table" role="status">
          {data && t('shelf.count', { count: offers.length })}
        </p>
      </div>
      <AskedRules collection={collection} />
      {error && !data ? (
        <div className="card">
          <ErrorState error={error} onRetry={() => void refetch()} />
        </div>
      ) : isNone ? (
        <div className="card">
          {shelf.active > 0 ? (
            <EmptyState title={t('shelf.none')} body={t('shelf.noneHint')}>
              <Button
                variant="default"
                onClick={() => {
                  passFocus(bar.current?.querySelector<HTMLElement>('select'))
                  shelf.clear()
                }}
              >
                {shopT('filters.clear')}
              </Button>
            </EmptyState>
          ) : (
            <NoProducts narrowed={collection !== undefined} />
          )}
        </div>
      ) : (
        <>
          <ul ref={list} style={gridStyle('19rem')} aria-busy={isPending} aria-label={shopT('nav.product')}>
            {isPending ? (
              <CardSkeletons />
            ) : (
              offers
                .slice(0, shelf.shown)
                .map(({ product, price }) => (
                  <ProductCard
                    key={product.id}
                    product={product}
                    price={price}
                    withChosen={filters.rules.length > 0}
                    collection={collection}
                  />
                ))
            )}
          </ul>
          {left > 0 && (
            <p style={{ marginTop: '1.5rem', textAlign: 'center' }}>
              <Button
                variant="default"
                onClick={() => {
                  next.current = shelf.shown
                  shelf.showMore()
                }}
              >
                {t('shelf.more', { count: left })}
              </Button>
            </p>
          )}
        </>
      )}
    </>
  )
}

const NO_RULES: readonly OfferedRule[] = []
const NO_PRODUCTS: readonly Product[] = []

function NoProducts({ narrowed }: { /** To a collection. */ narrowed: boolean }) {
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
