import { pageAt } from '@netlet/contract/pages'
import { Skeleton } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/landing.ts'
import { useNames } from '../../i18n/names.ts'
import { money } from '../../kit/money.ts'
import classes from './more.module.css'
import { gridStyle } from '../../kit/grid-style.ts'

/** Number of rules shown. The server sorts them by the number of products that sell them. */
const SHOWN = 12
/** Sites named per rule. */
const SITES = 3

/** Uses of the plans: the access rules with addresses on sale, linked to the products with the rule selected. */
export function Uses() {
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
          : rules?.slice(0, SHOWN).map(rule => (
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
