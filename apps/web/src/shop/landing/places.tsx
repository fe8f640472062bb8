import type { ShopFigures } from '@netlet/contract'
import { Skeleton } from '@mantine/core'
import { IconWorld } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useT } from '../../i18n/landing.ts'
import { useLanguage } from '../../i18n/language.ts'
import { useNames } from '../../i18n/names.ts'
import { countryName, flagOf } from '../../kit/country.tsx'
import classes from './more.module.css'
import { figuresQuery } from './proof.tsx'
import { gridStyle } from '../../kit/grid-style.ts'

/** Locations named per country. */
const NAMES = 6

export function Places() {
  const t = useT()
  const { data, isPending } = useQuery(figuresQuery)
  if (!isPending && !data?.countries.length) return null
  return (
    <section className={`wide ${classes.section}`} aria-labelledby="places">
      <h2 id="places">{t('places.title')}</h2>
      <p className={`dim ${classes.lead}`}>{t('places.lead')}</p>
      <ul style={{ ...gridStyle('15rem', '0.75rem'), marginTop: '1.25rem' }} aria-busy={isPending}>
        {isPending
          ? [1, 2, 3, 4].map(key => (
              <li key={key}>
                <Skeleton height="4.33rem" radius="md" />
              </li>
            ))
          : data?.countries.map(country => <Country key={country.code ?? ''} country={country} figures={data} />)}
      </ul>
    </section>
  )
}

type CountryProps = { country: ShopFigures['countries'][number]; figures: ShopFigures }

function Country({ country: { code, locations, names }, figures }: CountryProps) {
  const t = useT()
  const language = useLanguage()
  const { word } = useNames()
  const flag = code === null ? undefined : flagOf(code)
  const more = locations - Math.min(names.length, NAMES)
  return (
    <li className="card row unwrapped start" style={{ gap: '0.85rem', padding: '0.9rem 1.05rem' }}>
      {flag ? (
        <img src={flag} alt="" width={30} height={20} className={classes.flag} />
      ) : (
        <IconWorld size={22} className="quiet" style={{ width: 30 }} aria-hidden />
      )}
      <div>
        <strong className="strong">{code === null ? t('places.other') : countryName(code, language)}</strong>
        <p className="dim size-table">
          {names
            .slice(0, NAMES)
            .map(name => word(figures, name))
            .join(' · ')}
          {more > 0 && ` ${t('places.more', { count: more })}`}
        </p>
      </div>
    </li>
  )
}
