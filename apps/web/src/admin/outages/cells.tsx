import type { CreditPreview, OutageEntry } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Link } from 'react-router'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { durationText } from '../../kit/money.ts'
import { StateBadge, StateWithDetails, type Tone } from '../../kit/state-badge.tsx'
import { Moment } from '../../kit/time.tsx'
import { type Question, type T, figures, ofMany, toTell } from '../kit/index.ts'
import { call } from '../../api/client.ts'
import { fleet } from '../../api/routes.ts'

export function planLines(t: T, plan: CreditPreview, language: string): string[] {
  const { orders, customers, revived, ended, credited, mails, lost } = plan
  const lines =
    orders === 0
      ? [t('outages.planNone')]
      : [
          t('outages.planOrders', figures({ orders, customers })),
          lost.least === lost.most
            ? t('outages.planEach', { time: durationText(lost.most, language) })
            : t('outages.planSpan', {
                least: durationText(lost.least, language),
                most: durationText(lost.most, language),
                total: durationText(lost.total, language)
              }),
          t('outages.planMails', figures({ mails }))
        ]
  if (revived > 0) lines.push(t('outages.planRevived', figures({ count: revived })))
  if (ended > 0) lines.push(t('outages.planEnded', figures({ count: ended })))
  if (credited > 0) lines.push(t('outages.planBefore', figures({ count: credited })))
  return lines
}

/** The incident that the mail to customers names. */
export const incidentLine = (t: T, { incident }: OutageEntry): string =>
  incident ? t('outages.planIncident', { title: incident.title }) : t('outages.planNoIncident')

/** The question before a credit, with its current plan. */
export async function creditQuestion(t: T, outage: OutageEntry, language: string): Promise<Question> {
  const { id, server } = outage
  const plan = await call(fleet.previewCredit, { params: { id } })
  const body = [t('outages.creditBody'), '', ...planLines(t, plan, language), incidentLine(t, outage)].join('\n')
  return toTell(t, ofMany({ title: t('outages.creditTitle', { server: server.name }), body }, plan.orders), 'many')
}

type Props = { outage: OutageEntry }

const TONES: Record<OutageEntry['state'], Tone> = { lasts: 'bad', open: 'wait', credited: 'good' }

export const ServerCell = ({ outage: { server } }: Props) => (
  <Link to={`${pageAt('servers')}?open=${server.id}`}>{server.name}</Link>
)

export function EndCell({ outage }: Props) {
  const t = useT()
  return outage.ended_at ? <Moment at={outage.ended_at} /> : <span className="bad">{t('outages.lasting')}</span>
}

export function LengthCell({ outage }: Props) {
  const language = useLanguage()
  return <span className="num">{durationText(outage.seconds, language)}</span>
}

/** Whether its time was credited, and to how many orders. */
export function StateCell({ outage: { state, orders, credited } }: Props) {
  const t = useT()
  return (
    <StateWithDetails>
      <StateBadge tone={state === 'open' && orders === 0 ? 'off' : TONES[state]}>
        {t(state === 'open' && orders === 0 ? 'outages.noOrders' : `outages.is.${state}`)}
      </StateBadge>
      {credited > 0 && <span className="dim">{t('outages.creditedTo', figures({ credited }))}</span>}
    </StateWithDetails>
  )
}

export function IncidentCell({ outage: { incident } }: Props) {
  return incident ? <Link to={`${pageAt('incidents')}?open=${incident.id}`}>{incident.title}</Link> : '–'
}
