import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT as useShopT } from '../../i18n/index.ts'
import { useT } from '../../i18n/product.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { useTitle } from '../../kit/use-title.ts'
import { PaymentDialog } from '../../kit/payment/payment-dialog.tsx'
import { pendingPayment, type Pending } from '../../kit/payment/pending.ts'
import { AskedRules } from './asked-rules.tsx'
import { CollectionFilter } from './collection-filter.tsx'
import { CardSkeletons, ProductCard } from './product-card.tsx'
import { OneProduct } from './one-product.tsx'
import classes from './product.module.css'

const idIn = (query: URLSearchParams, name: string) => {
  const value = Number(query.get(name))
  return Number.isSafeInteger(value) && value > 0 ? value : undefined
}

export default function ProductPage() {
  const shopT = useShopT()
  const [query] = useSearchParams()
  const id = idIn(query, 'id')
  const [payment, setPayment] = useState<{ pending: Pending; blocked?: boolean } | null>(() => {
    const pending = pendingPayment(Date.now())
    return pending && { pending }
  })
  useTitle(shopT('nav.product'))
  return (
    <div className="wide page">
      {id ? (
        <OneProduct key={id} id={id} collection={idIn(query, 'parId')} onOrdered={setPayment} />
      ) : (
        <Shelf collection={idIn(query, 'parId')} />
      )}
      {payment && <PaymentDialog {...payment} onClose={() => setPayment(null)} />}
    </div>
  )
}

function Shelf({ collection }: { collection: number | undefined }) {
  const t = useT()
  const shopT = useShopT()
  const { data, isPending, error, refetch } = useQuery(read(catalog.products, { query: { limit: 200, collection } }))
  return (
    <>
      <h1>{t('product.title')}</h1>
      <p className={`dim ${classes.lead}`}>{t('product.lead')}</p>
      <CollectionFilter selected={collection} />
      <AskedRules collection={collection} />
      {error && !data ? (
        <div className="card">
          <ErrorState error={error} onRetry={() => void refetch()} />
        </div>
      ) : !isPending && data?.data.length === 0 ? (
        <div className="card">
          <EmptyState title={t('product.none')} body={t('product.noneHint')} />
        </div>
      ) : (
        <ul className={classes.grid} aria-busy={isPending} aria-label={shopT('nav.product')}>
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
