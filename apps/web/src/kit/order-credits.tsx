import { pageAt } from '@netlet/contract/pages'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { read } from '../api/query.ts'
import { orders } from '../api/routes.ts'
import { useLanguage } from '../i18n/language.ts'
import { useT } from '../i18n/status.ts'
import { durationText } from './money.ts'
import { momentText } from './time.tsx'

/** Time credited to an order for outages, with the incident of each. Renders nothing if there is none. */
export function OrderCredits({ orderId }: { orderId: number }) {
  const t = useT()
  const language = useLanguage()
  const { data } = useQuery(read(orders.credits, { params: { id: orderId } }))
  if (!data || data.length === 0) return null
  return (
    <section aria-label={t('credits')}>
      <strong>{t('credits')}</strong>
      <ul>
        {data.map(({ at, seconds, from, to, incident }) => (
          <li key={`${at} ${from}`}>
            {t('credit', {
              time: durationText(seconds, language),
              from: momentText(from, language),
              to: momentText(to, language)
            })}
            {incident && (
              <>
                {' · '}
                <Link to={`${pageAt('status')}?incident=${incident.id}`}>{incident.title}</Link>
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
