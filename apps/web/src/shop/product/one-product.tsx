import type { Product } from '@netlet/contract'
import { Button, Skeleton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconArrowLeft } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/product.ts'
import { useNames } from '../../i18n/names.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { useTitle } from '../../kit/use-title.ts'
import { activeVariants, stockOf } from '../product-facts.ts'
import type { Pending } from '../../kit/payment/pending.ts'
import { AclDialog } from './acl-dialog.tsx'
import { useProductPath } from './asked-rules.tsx'
import { MOST_ADDRESSES, wholeSteps } from './choice.ts'
import { Description } from './description.tsx'
import { Included } from './included.tsx'
import { Locations } from './locations.tsx'
import { OrderBox } from './order-box.tsx'
import { OtherPlans } from './other-plans.tsx'
import { PriceTable } from './price-table.tsx'
import { ProductPicture } from './product-card.tsx'
import { Purchase } from './purchase.tsx'
import { UnpaidDialog } from './unpaid-dialog.tsx'
import { useChoice } from './use-choice.ts'
import { usePurchase } from './use-purchase.ts'
import classes from './one-product.module.css'

/** Milliseconds between polls of a plan without stock. */
const SOLD_OUT_LOOK = 30_000

type Props = {
  /** Undefined if the address has an impossible id. */
  id: number | undefined
  collection: number | undefined
  onOrdered: (payment: { pending: Pending; blocked: boolean }) => void
}

export function OneProduct({ id, collection, onOrdered }: Props) {
  const t = useT()
  const pathTo = useProductPath()
  const { data, isPending, error, refetch } = useQuery({
    ...read(catalog.products, { query: { id, limit: 1 } }),
    enabled: id !== undefined,
    // A sold-out plan may get stock again at any time.
    refetchInterval: ({ state }) => (state.data?.data.some(one => stockOf(one) === 0) ? SOLD_OUT_LOOK : false)
  })
  const product = data?.data[0]
  return (
    <>
      <Link to={pathTo({ collection })} className={classes.back}>
        <IconArrowLeft size={17} aria-hidden /> {t('product.back')}
      </Link>
      {error && !data ? (
        <div className="card">
          <ErrorState error={error} onRetry={() => void refetch()} />
        </div>
      ) : isPending && id !== undefined ? (
        <div className={classes.columns} aria-busy>
          <div className="stack">
            <Skeleton height={46} width="60%" />
            <Skeleton height={23} width="40%" />
            <Skeleton height={170} radius="md" />
          </div>
          <Skeleton height={785} radius="md" />
        </div>
      ) : product && activeVariants(product).length > 0 ? (
        <View product={product} onOrdered={onOrdered} />
      ) : (
        <div className="card" style={{ minHeight: '80vh' }}>
          <EmptyState title={t('product.gone')} body={t('product.goneHint')}>
            <Button component={Link} to={pathTo({ collection })} variant="default">
              {t('product.back')}
            </Button>
          </EmptyState>
        </div>
      )}
    </>
  )
}

function View({ product, onOrdered }: { product: Product } & Pick<Props, 'onOrdered'>) {
  const [dialog, setDialog] = useState(false)
  const phone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false })
  const choice = useChoice(product)
  const openDialog = () => setDialog(true)
  const purchase = usePurchase({ product, choice, onOrdered, onRulesMissing: openDialog })
  const { variant } = choice
  const names = useNames()
  const name = names.product(product)
  const desc = names.text(product, product.product_desc, 'desc')
  useTitle(name)
  return (
    <>
      <div className={classes.columns}>
        <div className={`stack ${classes.head}`}>
          <h1>{name}</h1>
          <p className="dim">{product.product_tags.map(names.tag).join(' · ')}</p>
          <div className="card" style={{ overflow: 'hidden' }}>
            <ProductPicture product={product} caption />
          </div>
          {desc && <Description text={desc} />}
        </div>
        <div className={classes.box}>
          <OrderBox
            product={product}
            choice={choice}
            purchase={purchase}
            withoutTotal={phone}
            onSelectRules={openDialog}
          />
        </div>
        <div className={classes.details}>
          <Locations product={product} />
          <Included variant={variant} />
          <PriceTable choice={choice} />
        </div>
      </div>
      <OtherPlans product={product} />
      {phone && (
        <div className={classes.bar}>
          <Purchase product={product} choice={choice} purchase={purchase} />
        </div>
      )}
      {purchase.offer && <UnpaidDialog {...purchase.offer} />}
      {dialog && (
        <AclDialog
          product={product}
          options={choice.options}
          basePrice={variant.variant_price}
          family={variant.address_family}
          step={variant.cart_step}
          quantity={wholeSteps(choice.wanted, variant.cart_step, MOST_ADDRESSES)}
          chosen={choice.suggested}
          onClose={() => setDialog(false)}
          onConfirmed={ids => {
            choice.lock(ids)
            setDialog(false)
          }}
        />
      )}
    </>
  )
}
