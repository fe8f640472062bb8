import type { Product } from '@netlet/contract'
import { countryIn } from '@netlet/contract/places'
import { useLanguage } from '../../i18n/language.ts'
import { countryName, flagOf } from '../../kit/country.tsx'
import { activeVariants } from '../product-facts.ts'
import { pickers } from './choice.ts'

const PLACE = /location|country|city|region|place|地区|地点|国家|城市|位置/i

/** The option that names a plan's location. */
export const placeOption = (product: Product) =>
  pickers(product, activeVariants(product)).find(({ label, values }) => PLACE.test(label) || values.every(countryIn))

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
