import type { Product } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Button, Skeleton } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useT } from '../../i18n/index.ts'
import { useNames } from '../../i18n/names.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { FromPrice, fromOf } from '../from-price.tsx'
import { productPath, Stock, stockOf } from '../stock.tsx'
import classes from './landing.module.css'

type Props = {
  products: Product[] | undefined
  pending: boolean
  error: unknown
  /** The number of placeholder rows while loading. */
  rows: number
  onRetry: () => void
  onReset?: (() => void) | undefined
}

export function ProductTable({ products, pending, error, rows, onRetry, onReset }: Props) {
  const t = useT()
  if (error && !products)
    return (
      <div className="card" style={{ marginTop: '1rem' }}>
        <ErrorState error={error} onRetry={onRetry} />
      </div>
    )
  if (!pending && !products?.length)
    return (
      <div className="card" style={{ marginTop: '1rem' }}>
        {onReset ? (
          <EmptyState title={t('landing.none')} body={t('landing.noneHint')}>
            <Button variant="default" onClick={onReset}>
              {t('landing.showAll')}
            </Button>
          </EmptyState>
        ) : (
          <EmptyState title={t('product.none')} body={t('landing.emptyHint')}>
            <Button component={Link} to={`${pageAt('support')}#contact`} variant="default">
              {t('support.write')}
            </Button>
          </EmptyState>
        )}
      </div>
    )
  return (
    <>
      <div
        className={`card ${classes.tableCard}`}
        data-pending={pending || undefined}
        style={{ '--rows': rows } as object}
      >
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
      <p style={{ marginTop: '1rem', textAlign: 'end' }}>
        <Link to={pageAt('product')} className="row unwrapped inline strong plain" style={{ gap: '0.3rem' }}>
          {t('landing.more')} <IconArrowRight size={16} aria-hidden />
        </Link>
      </p>
    </>
  )
}

function Row({ product }: { product: Product }) {
  const t = useT()
  const names = useNames()
  const path = productPath(product)
  return (
    <tr>
      <td>
        <Link to={path} className={`strong plain ${classes.name}`}>
          {names.product(product)}
        </Link>
        <span className={classes.collection}>{product.product_collections.map(names.collection).join(', ')}</span>
      </td>
      <td className={classes.tagCell}>{product.product_tags.map(names.tag).join(', ')}</td>
      <td>
        <Stock count={stockOf(product)} />
      </td>
      <td className={`num ${classes.right}`}>
        <FromPrice price={fromOf(product)} base={product.lower_price} />
      </td>
      <td className={classes.right}>
        <Button
          component={Link}
          to={path}
          size="xs"
          variant="default"
          aria-label={`${t('order')}: ${names.product(product)}`}
        >
          {t('order')}
        </Button>
      </td>
    </tr>
  )
}
