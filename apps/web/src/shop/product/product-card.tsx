import { Skeleton } from '@mantine/core'
import type { Product } from '@netlet/contract'
import { countryIn } from '@netlet/contract/places'
import { useState } from 'react'
import { Link } from 'react-router'
import { useLanguage } from '../../i18n/language.ts'
import { useNames } from '../../i18n/names.ts'
import { useT } from '../../i18n/product.ts'
import { countryName, flagOf } from '../../kit/country.tsx'
import { FromPrice } from '../from-price.tsx'
import { Stock, stockOf } from '../stock.tsx'
import { useProductPath } from './asked-rules.tsx'
import { placeOption } from './filter-products.ts'
import { OccupancyArt } from './occupancy-art.tsx'
import classes from './product-card.module.css'

/** Colours that distinguish the collections' pictures. */
const HUES = 4

export function ProductPicture({ product, caption }: { product: Product; caption?: boolean }) {
  const [broken, setBroken] = useState(false)
  return (
    <div className={classes.picture} data-hue={((product.product_collections[0]?.id ?? 1) - 1) % HUES}>
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
  /** As for `FromPrice`. */
  price: string | null
  withChosen?: boolean
  collection: number | undefined
  /** The heading's level. */
  level?: 2 | 3
}

export function ProductCard({ product, price, withChosen, collection, level = 2 }: Props) {
  const t = useT()
  const names = useNames()
  const pathTo = useProductPath()
  const Heading = level === 2 ? 'h2' : 'h3'
  return (
    <li className={`card ${classes.card}`}>
      <ProductPicture product={product} />
      <div className="stack" style={{ gap: '0.35rem', flex: 1, padding: '1.1rem 1.2rem' }}>
        <Heading className={classes.cardTitle}>
          <Link to={pathTo({ collection, id: product.id })}>{names.product(product)}</Link>
        </Heading>
        <div className="row unwrapped between size-body" style={{ gap: '1rem', minHeight: '1.4rem' }}>
          <p className="dim">{product.product_tags.map(names.tag).join(' · ')}</p>
          <Flags product={product} />
        </div>
        <div className="row baseline between" style={{ gap: '0.25rem 1rem', marginTop: 'auto', paddingTop: '0.7rem' }}>
          <span className="num">
            <span className="dim">{t('product.from')}</span>{' '}
            <FromPrice price={price} base={product.lower_price} withChosen={withChosen} />
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
      <div className="stack" style={{ gap: '0.35rem', flex: 1, padding: '1.1rem 1.2rem' }}>
        <Skeleton height={22} width="70%" />
        <Skeleton height={16} width="50%" />
        <Skeleton height={20} mt={14} />
      </div>
    </li>
  ))

/** Flags per card. */
const MOST = 5

/** The countries where a plan is available. */
export function Flags({ product }: { product: Product }) {
  const language = useLanguage()
  const places = placeOption(product)?.values ?? []
  const flags = [...new Set(places.map(countryIn))].flatMap(code => {
    const flag = code && flagOf(code)
    return flag ? [{ flag, name: countryName(code, language) }] : []
  })
  if (flags.length === 0) return null
  return (
    <span className="row unwrapped rigid quiet size-label" style={{ gap: '0.3rem' }}>
      {flags.slice(0, MOST).map(({ flag, name }) => (
        <img key={name} className="flag" src={flag} alt={name} title={name} width={18} height={12} loading="lazy" />
      ))}
      {flags.length > MOST && `+${flags.length - MOST}`}
    </span>
  )
}
