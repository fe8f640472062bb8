import type { Product } from '@netlet/contract'
import { IconWorld } from '@tabler/icons-react'
import { useLanguage } from '../../i18n/language.ts'
import { useT } from '../../i18n/product.ts'
import { flagOf } from '../../kit/flags.ts'
import { activeVariants } from '../product-facts.ts'
import { Stock } from '../stock.tsx'
import { pickers } from './choice.ts'
import { countryName, countryOf } from './country-of.ts'
import classes from './product.module.css'

const PLACE = /location|country|city|region|place|地区|地点|国家|城市|位置/i

/** Where a plan's addresses are, by the option that says so: with the country's flag where the name tells it. */
export function Locations({ product }: { product: Product }) {
  const t = useT()
  const language = useLanguage()
  const variants = activeVariants(product)
  const option = pickers(product, variants).find(({ label, values }) => PLACE.test(label) || values.every(countryOf))
  if (!option) return null
  const key = `variant_${option.name}` as const
  const stockIn = (place: string) =>
    Math.max(...variants.filter(variant => variant[key] === place).map(variant => variant.variant_stock))
  return (
    <section aria-labelledby="locations">
      <h2 id="locations">{t('product.locations')}</h2>
      <ul className={classes.locations}>
        {option.values.map(place => {
          const country = countryOf(place)
          const flag = country && flagOf(country)
          const name = country && countryName(country, language)
          return (
            <li key={place}>
              {flag ? <img src={flag} alt="" width={24} height={16} /> : <IconWorld size={20} aria-hidden />}
              <span>
                <strong>{place}</strong> {name && !place.includes(name) && <small className="dim">{name}</small>}
              </span>
              <Stock count={stockIn(place)} />
            </li>
          )
        })}
      </ul>
    </section>
  )
}
