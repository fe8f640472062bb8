import type { Product } from '@netlet/contract'
import { countryIn } from '@netlet/contract/places'
import { IconWorld } from '@tabler/icons-react'
import { useLanguage } from '../../i18n/language.ts'
import { useNames } from '../../i18n/names.ts'
import { useT } from '../../i18n/product.ts'
import { countryName, flagOf } from '../../kit/country.tsx'
import { activeVariants } from '../product-facts.ts'
import { Stock } from '../stock.tsx'
import { placeOption } from './places.tsx'
import classes from './locations.module.css'
import { gridStyle } from '../../kit/grid-style.ts'

/** A plan's locations from its location option, with a flag if the name contains a country. */
export function Locations({ product }: { product: Product }) {
  const t = useT()
  const language = useLanguage()
  const { word } = useNames()
  const variants = activeVariants(product)
  const option = placeOption(product)
  if (!option) return null
  const key = `variant_${option.name}` as const
  const stockIn = (place: string) =>
    Math.max(...variants.filter(variant => variant[key] === place).map(variant => variant.variant_stock))
  return (
    <section aria-labelledby="locations">
      <h2 id="locations">{t('product.locations')}</h2>
      <ul className={classes.locations} style={gridStyle('19rem', '0.5rem')}>
        {option.values.map(place => {
          const country = countryIn(place)
          const flag = country && flagOf(country)
          const called = word(product, place)
          const name = country && countryName(country, language)
          return (
            <li key={place}>
              {flag ? (
                <img className="flag" src={flag} alt="" width={24} height={16} />
              ) : (
                <IconWorld size={20} aria-hidden />
              )}
              <span>
                <strong>{called}</strong> {name && !called.includes(name) && <small className="dim">{name}</small>}
              </span>
              <Stock count={stockIn(place)} />
            </li>
          )
        })}
      </ul>
    </section>
  )
}
