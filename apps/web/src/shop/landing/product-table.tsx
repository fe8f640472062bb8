import type { Product } from '@netlet/contract'
import { Button, Skeleton } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useT } from '../../i18n/index.ts'
import { money } from '../../kit/money.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { Stock } from '../stock.tsx'
import { productPath, stockOf } from '../product-facts.ts'
import classes from './landing.module.css'

type Props = {
  products: Product[] | undefined
  pending: boolean
  error: unknown
  /** How many rows to hold the place of while they are loaded. */
  rows: number
  onRetry: () => void
  onReset?: (() => void) | undefined
}

export function ProductTable({ products, pending, error, rows, onRetry, onReset }: Props) {
  const t = useT()
  if (error && !products)
    return (
      <div className={`card ${classes.place}`}>
        <ErrorState error={error} onRetry={onRetry} />
      </div>
    )
  if (!pending && !products?.length)
    return (
      <div className={`card ${classes.place}`}>
        {onReset ? (
          <EmptyState title={t('landing.none')} body={t('landing.noneHint')}>
            <Button variant="default" onClick={onReset}>
              {t('landing.showAll')}
            </Button>
          </EmptyState>
        ) : (
          <EmptyState title={t('product.none')} body={t('landing.emptyHint')} />
        )}
      </div>
    )
  return (
    <>
      <div className={`card ${classes.tableCard}`} style={pending ? { minHeight: `${rows * 3.6}rem` } : undefined}>
        <table className={classes.table} aria-busy={pending}>
          <caption className="sr-only">{t('landing.find')}</caption>
          <thead>
            <tr>
              <th scope="col">{t('product.name')}</th>
              <th scope="col">{t('product.tags')}</th>
              <th scope="col">{t('product.stock')}</th>
              <th scope="col" className={classes.right}>
                {t('product.from')}
              </th>
              <th scope="col">
                <span className="sr-only">{t('order')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {pending
              ? Array.from({ length: rows }, (_, index) => (
                  <tr key={index}>
                    <td colSpan={5}>
                      <Skeleton height={20} my={8} />
                    </td>
                  </tr>
                ))
              : products?.map(product => <Row key={product.id} product={product} />)}
          </tbody>
        </table>
      </div>
      <p className={classes.more}>
        <Link to="/product">
          {t('landing.more')} <IconArrowRight size={16} aria-hidden />
        </Link>
      </p>
    </>
  )
}

function Row({ product }: { product: Product }) {
  const t = useT()
  const path = productPath(product)
  return (
    <tr>
      <td>
        <Link to={path} className={classes.name}>
          {product.product_name}
        </Link>
        <span className={classes.collection}>
          {product.product_collections.map(collection => collection.collection_name).join(', ')}
        </span>
      </td>
      <td className={classes.tagCell}>{product.product_tags.map(tag => tag.tag_name).join(', ')}</td>
      <td>
        <Stock count={stockOf(product)} />
      </td>
      <td className={`num ${classes.right}`}>
        <strong>{money(product.lower_price)}</strong> <span className="dim">{t('product.perIp')}</span>
      </td>
      <td className={classes.right}>
        <Button
          component={Link}
          to={path}
          size="xs"
          variant="default"
          aria-label={`${t('order')}: ${product.product_name}`}
        >
          {t('order')}
        </Button>
      </td>
    </tr>
  )
}
