import type { ShopFigures } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { status } from '../../api/routes.ts'
import { useT } from '../../i18n/index.ts'
import { useLanguage, type Language } from '../../i18n/language.ts'
import { durationText, numberText } from '../../kit/money.ts'
import classes from './proof.module.css'

/** Shared with the locations below. */
export const figuresQuery = { ...read(status.figures), staleTime: 60_000 }

/** The shop's measured figures. Unknown ones are omitted, but their space is kept. */
export function Proof() {
  const t = useT()
  const language = useLanguage()
  const { data } = useQuery(figuresQuery)
  const shown = data ? figuresOf(data, language) : []
  return (
    <section className={`wide ${classes.proof}`} aria-label={t('landing.proof')}>
      {shown.length > 0 && (
        <dl className={classes.list}>
          {shown.map(({ name, text, days }) => (
            <div key={name}>
              <dt>
                {days === undefined ? (
                  t(`landing.proof.${name}`)
                ) : (
                  <Link to={pageAt('status')}>{t('landing.proof.uptime', { days })}</Link>
                )}
              </dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  )
}

type Figure = {
  name: 'countries' | 'addresses' | 'networks' | 'delivery' | 'uptime'
  text: string
  /** For the uptime: the number of days it covers. */
  days?: number
}

function figuresOf({ countries, addresses, networks, delivery_seconds, uptime }: ShopFigures, language: Language) {
  const known = countries.filter(({ code }) => code !== null).length
  const figures: Figure[] = []
  if (known > 0) figures.push({ name: 'countries', text: numberText(known) })
  if (addresses > 0) figures.push({ name: 'addresses', text: atLeast(addresses) })
  else if (networks > 0) figures.push({ name: 'networks', text: atLeast(networks) })
  if (delivery_seconds !== null) figures.push({ name: 'delivery', text: durationText(delivery_seconds, language) })
  if (uptime) figures.push({ name: 'uptime', text: `${numberText(uptime.percent)}%`, days: uptime.days })
  return figures
}

/** The server rounds these down. */
const atLeast = (count: number) => `${numberText(count)}+`
