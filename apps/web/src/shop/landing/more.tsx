import { Button, Skeleton } from '@mantine/core'
import type { ShopFigures } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { IconArrowRight, IconWorld } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { catalog, support } from '../../api/routes.ts'
import { useSession } from '../../api/session.ts'
import { useT as useShellT } from '../../i18n/index.ts'
import { useT } from '../../i18n/landing.ts'
import { useLanguage } from '../../i18n/language.ts'
import { useNames } from '../../i18n/names.ts'
import { CopyButton } from '../../kit/copy-button.tsx'
import { countryName, flagOf } from '../../kit/country.tsx'
import { gridStyle } from '../../kit/grid-style.ts'
import { money } from '../../kit/money.ts'
import { QuestionList } from '../question-list.tsx'
import classes from './more.module.css'
import { figuresQuery } from './proof.tsx'

/** A customer's first request. The words in capitals come from the order. */
const LINE = 'curl -x http://USER:PASSWORD@IP:PORT https://www.example.com/'

function Steps() {
  const t = useT()
  return (
    <section className={`wide ${classes.section}`} aria-labelledby="steps">
      <h2 id="steps">{t('steps.title')}</h2>
      <ol className={classes.steps}>
        {(['buy', 'copy', 'connect'] as const).map((step, at) => (
          <li key={step} className="stack">
            <span className={`size-table strong ${classes.number}`} aria-hidden>
              {at + 1}
            </span>
            <h3>{t(`steps.${step}`)}</h3>
            <p className="dim">{t(`steps.${step}Text`)}</p>
          </li>
        ))}
      </ol>
      <div className={`card ${classes.line}`}>
        <p className="quiet size-table">{t('steps.line')}</p>
        <code className="size-table breaks">{LINE}</code>
        <CopyButton text={LINE} name={t('steps.lineName')} size="sm" />
      </div>
    </section>
  )
}

const SHOWN = 5

function Questions() {
  const t = useT()
  const { data, isPending } = useQuery({ ...read(support.faqs, { query: { limit: SHOWN } }), staleTime: 60_000 })
  if (!isPending && !data?.data.length) return null
  return (
    <section className={`wide ${classes.section} ${classes.split}`} aria-labelledby="questions">
      <div>
        <h2 id="questions">{t('questions.title')}</h2>
        <p style={{ marginTop: '1rem' }}>
          <Link to={pageAt('support')} className={`row unwrapped inline strong plain ${classes.after}`}>
            {t('questions.all')} <IconArrowRight size={16} aria-hidden />
          </Link>
        </p>
      </div>
      <QuestionList questions={data?.data} places={SHOWN} />
    </section>
  )
}

/** The rest of the landing page. Parts without content are omitted. */
export function More() {
  return (
    <>
      <Steps />
      <Uses />
      <Places />
      <Questions />
      <End />
    </>
  )
}

function End() {
  const t = useT()
  const shell = useShellT()
  const { user } = useSession()
  return (
    <section className={`wide ${classes.section}`} aria-labelledby="end">
      <div className={`row between ${classes.end}`}>
        <div>
          <h2 id="end">{t('end.title')}</h2>
          <p className="quiet" style={{ maxWidth: '36rem', marginTop: '0.35rem' }}>
            {t('end.text')}
          </p>
        </div>
        <div className="row">
          <Button component={Link} to={pageAt('product')} size="md">
            {shell('landing.browse')}
          </Button>
          {!user && (
            <Button component={Link} to={pageAt('createAccount')} size="md" variant="default">
              {t('end.account')}
            </Button>
          )}
        </div>
      </div>
    </section>
  )
}

/** Locations named per country. */
const NAMES = 6

function Places() {
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

/** Number of rules shown. The server sorts them by the number of products that sell them. */
const USES_SHOWN = 12
/** Sites named per rule. */
const SITES = 3

/** Uses of the plans: the access rules with addresses on sale, linked to the products with the rule selected. */
function Uses() {
  const t = useT()
  const names = useNames()
  const { data, isPending } = useQuery({ ...read(catalog.rules), staleTime: 60_000 })
  const rules = data?.filter(rule => rule.product_count > 0)
  if (!isPending && !rules?.length) return null
  const sitesOf = ({ domains, domain_count: count }: { domains: string[]; domain_count: number }) =>
    domains.slice(0, SITES).join(', ') + (count > SITES ? ` ${t('uses.more', { count: count - SITES })}` : '')
  return (
    <section className={`wide ${classes.section}`} aria-labelledby="uses">
      <h2 id="uses">{t('uses.title')}</h2>
      <p className={`dim ${classes.lead}`}>{t('uses.lead')}</p>
      <ul style={{ ...gridStyle('15rem', '0.75rem'), marginTop: '1.25rem' }} aria-busy={isPending}>
        {isPending
          ? Array.from({ length: 8 }, (_, key) => (
              <li key={key}>
                <Skeleton height="6.57rem" radius="md" />
              </li>
            ))
          : rules?.slice(0, USES_SHOWN).map(rule => (
              <li key={rule.acl_id}>
                <Link to={`${pageAt('product')}?acl=${rule.acl_id}`} className={`card stack ${classes.use}`}>
                  <strong className="strong size-lead breaks">{names.rule(rule)}</strong>
                  <span className="cut quiet size-table" title={sitesOf(rule)}>
                    {sitesOf(rule)}
                  </span>
                  <span
                    className={`num row unwrapped stretch between quiet size-table ${classes.facts}`}
                    style={{ marginTop: 'auto', paddingTop: '0.5rem' }}
                  >
                    <span>{t('uses.price', { price: money(rule.price) })}</span>
                    <span>{t('uses.plans', { count: rule.product_count })}</span>
                  </span>
                </Link>
              </li>
            ))}
      </ul>
      <p style={{ marginTop: '1rem' }}>
        <Link to={pageAt('product')} className={`row unwrapped inline strong plain ${classes.after}`}>
          {t('uses.all')} <IconArrowRight size={16} aria-hidden />
        </Link>
      </p>
    </section>
  )
}
