import type { Product } from '@netlet/contract'
import { Skeleton } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import { useT } from '../../i18n/product.ts'
import { money } from '../../kit/money.ts'
import { useProductPath } from './asked-rules.tsx'
import { OccupancyArt } from './occupancy-art.tsx'
import { stockOf } from '../product-facts.ts'
import { Stock } from '../stock.tsx'
import classes from './product.module.css'

export function ProductPicture({ product, caption }: { product: Product; caption?: boolean }) {
  const [broken, setBroken] = useState(false)
  return (
    <div className={classes.picture}>
      {product.image_url && !broken ? (
        <img src={product.image_url} alt="" width={400} height={170} loading="lazy" onError={() => setBroken(true)} />
      ) : (
        <OccupancyArt id={product.id} caption={caption} />
      )}
    </div>
  )
}

type Props = {
  product: Product
  collection: number | undefined
  /** Of its heading. */
  level?: 2 | 3
}

export function ProductCard({ product, collection, level = 2 }: Props) {
  const t = useT()
  const pathTo = useProductPath()
  const Heading = level === 2 ? 'h2' : 'h3'
  return (
    <li className={`card ${classes.card}`}>
      <ProductPicture product={product} />
      <div className={classes.cardText}>
        <Heading className={classes.cardTitle}>
          <Link to={pathTo({ collection, id: product.id })}>{product.product_name}</Link>
        </Heading>
        <p className={`dim ${classes.cardTags}`}>{product.product_tags.map(tag => tag.tag_name).join(' · ')}</p>
        <div className={classes.cardFoot}>
          <span className="num">
            <span className="dim">{t('product.from')}</span> <strong>{money(product.lower_price)}</strong>{' '}
            <span className="dim">{t('product.perIp')}</span>
          </span>
          <Stock count={stockOf(product)} />
        </div>
      </div>
    </li>
  )
}

export const CardSkeletons = () =>
  [1, 2, 3, 4, 5, 6].map(key => (
    <li key={key} className={`card ${classes.card}`}>
      <Skeleton height="10.5rem" radius={0} />
      <div className={classes.cardText}>
        <Skeleton height={22} width="70%" />
        <Skeleton height={16} width="50%" />
        <Skeleton height={20} mt={14} />
      </div>
    </li>
  ))
