import type { LostTime } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Link } from 'react-router'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { durationText } from '../../kit/duration.ts'
import { momentText } from '../../kit/time.tsx'

/** Outages whose lost time was not credited. Each links to the page that credits all its orders. */
export function LostTimeList({ lost }: { lost: readonly LostTime[] }) {
  const t = useT()
  const language = useLanguage()
  if (lost.length === 0) return null
  return (
    <section aria-label={t('orders.lostTime')}>
      <strong>{t('orders.lostTime')}</strong>
      <ul>
        {lost.map(({ outage_id: id, server, from, to, seconds }) => (
          <li key={id}>
            <Link to={`${pageAt('outages')}?open=${id}`}>
              {t('orders.lostBy', { time: durationText(seconds, language), server: server.name })}
            </Link>{' '}
            {to === null
              ? t('orders.lostSince', { from: momentText(from, language) })
              : t('orders.lostFrom', { from: momentText(from, language), to: momentText(to, language) })}
          </li>
        ))}
      </ul>
    </section>
  )
}
