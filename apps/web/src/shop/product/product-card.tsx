import type { Product } from '@netlet/contract'
import { Skeleton } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import { useT } from '../../i18n/index.ts'
import { BlockArt } from '../../kit/block-art.tsx'
import { money } from '../../kit/money.ts'
import { stockOf } from '../product-facts.ts'
import { Stock } from '../stock.tsx'
import classes from './product.module.css'

export function ProductPicture({ product }: { product: Product }) {
  const [broken, setBroken] = useState(false)
  return (
    <div className={classes.picture}>
      {product.image_url && !broken ? (
        <img src={product.image_url} alt="" width={400} height={170} loading="lazy" onError={() => setBroken(true)} />
      ) : (
        <BlockArt seed={product.product_name} cols={26} rows={10} />
      )}
    </div>
  )
}

export function ProductCard({ product, collection }: { product: Product; collection: number | undefined }) {
  const t = useT()
  return (
    <li className={`card ${classes.card}`}>
      <ProductPicture product={product} />
      <div className={classes.cardText}>
        <h2 className={classes.cardTitle}>
          <Link to={`/product?${collection ? `parId=${collection}&` : ''}id=${product.id}`}>
            {product.product_name}
          </Link>
        </h2>
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
