import type { CreditPreview, OutageEntry } from '@netlet/contract'
import { call } from '../../api/client.ts'
import { fleet } from '../../api/routes.ts'
import { durationText } from '../../kit/duration.ts'
import { figures, ofMany, type Question, type T } from '../kit/index.ts'

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
  return ofMany({ title: t('outages.creditTitle', { server: server.name }), body }, plan.orders)
}
