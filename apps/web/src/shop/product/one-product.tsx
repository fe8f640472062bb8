import type { Product } from '@netlet/contract'
import { Skeleton } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/index.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { useTitle } from '../../kit/use-title.ts'
import { activeVariants } from '../product-facts.ts'
import type { Pending } from '../../kit/payment/pending.ts'
import { OrderBox } from './order-box.tsx'
import { ProductPicture } from './product-card.tsx'
import classes from './product.module.css'

type Props = {
  id: number
  collection: number | undefined
  onOrdered: (payment: { pending: Pending; blocked: boolean }) => void
}

export function OneProduct({ id, collection, onOrdered }: Props) {
  const t = useT()
  const { data, isPending, error, refetch } = useQuery(read(catalog.products, { query: { id, limit: 1 } }))
  const product = data?.data[0]
  return (
    <>
      <Link to={collection ? `/product?parId=${collection}` : '/product'} className={classes.back}>
        <IconArrowLeft size={17} aria-hidden /> {t('product.back')}
      </Link>
      {error && !data ? (
        <div className="card">
          <ErrorState error={error} onRetry={() => void refetch()} />
        </div>
      ) : isPending ? (
        <div className={classes.columns} aria-busy>
          <div className="stack">
            <Skeleton height={46} width="60%" />
            <Skeleton height={23} width="40%" />
            <Skeleton height={170} radius="md" />
          </div>
          <Skeleton height={716} radius="md" />
        </div>
      ) : product && activeVariants(product).length > 0 ? (
        <View product={product} onOrdered={onOrdered} />
      ) : (
        <div className="card">
          <EmptyState title={t('product.gone')} body={t('product.goneHint')} />
        </div>
      )}
    </>
  )
}

function View({ product, onOrdered }: { product: Product } & Pick<Props, 'onOrdered'>) {
  const t = useT()
  useTitle(product.product_name)
  return (
    <div className={classes.columns}>
      <div className="stack">
        <h1>{product.product_name}</h1>
        <p className="dim">{product.product_tags.map(tag => tag.tag_name).join(' · ')}</p>
        <div className="card" style={{ overflow: 'hidden' }}>
          <ProductPicture product={product} />
        </div>
        {product.product_desc && <p className={classes.desc}>{product.product_desc}</p>}
        <ul className={classes.facts}>
          <li>{t('product.fact1')}</li>
          <li>{t('product.fact2')}</li>
          <li>{t('product.fact3')}</li>
        </ul>
      </div>
      <OrderBox product={product} onOrdered={onOrdered} />
    </div>
  )
}
