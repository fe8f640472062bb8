import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Notice, NoticeDetail, NoticeSend } from '@netlet/contract'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { notices } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { ErrorState } from '../../kit/states.tsx'
import { Moment } from '../../kit/time.tsx'
import { AuditLink, FactList, type Fact, type Tools } from '../kit/index.ts'
import { Cause, Failure, Severity, State } from './cells.tsx'
import classes from './notices.module.css'

/** A notice beside the list: its text, the result of each message, and a link to its rows. */
export function NoticeDrawer({ id }: { id: number; row: Notice | undefined; tools: Tools }) {
  const t = useT()
  const language = useLanguage()
  const { data, error, refetch } = useQuery(read(notices.notice, { params: { id } }))
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={360} />
  return (
    <div className="stack">
      <h3 className="size-lead">{data.title[language]}</h3>
      {data.text[language].split(/\n{2,}/).map(paragraph => (
        <p key={paragraph}>{paragraph}</p>
      ))}
      <p>
        <Link to={data.path}>{t('notices.rows')}</Link>
      </p>
      <Facts of={data} />
      <Log of={data.log} />
      <AuditLink of="notice" id={id} />
    </div>
  )
}

function Facts({ of: row }: { of: NoticeDetail }) {
  const t = useT()
  const facts: Fact[] = [
    [t('notices.severity'), <Severity row={row} />],
    [t('notices.cause'), <Cause row={row} />],
    [t('notices.state'), <State row={row} />],
    [t('notices.count'), row.count],
    [t('notices.since'), <Moment at={row.since} />],
    [t('notices.told_at'), row.told_at && <Moment at={row.told_at} />]
  ]
  return <FactList label={t('notices.one')} facts={facts} />
}

function Log({ of: sends }: { of: readonly NoticeSend[] }) {
  const t = useT()
  return (
    <section className="stack" aria-label={t('notices.log')}>
      <h3 className="size-lead">{t('notices.log')}</h3>
      {sends.length === 0 && <p className="dim">{t('notices.noLog')}</p>}
      <ul className={classes.log}>
        {sends.map(send => (
          <li key={send.id}>
            <strong>{send.channel}</strong> <span className="dim">{t(`notices.tellingOf.${send.telling}`)}</span>
            <div>
              {t(`notices.sendIs.${send.state}`)} <Moment at={send.ended_at ?? send.due_at} />
              {send.tries > 1 && <span className="dim">, {t('tasks.tries', { count: send.tries })}</span>}
            </div>
            <Failure of={send} />
            {send.mails.map(mail => (
              <div key={mail.to} className={mail.state === 'failed' ? 'bad' : 'dim'}>
                {mail.to}: {t(`mails.is.${mail.state}`)}
              </div>
            ))}
          </li>
        ))}
      </ul>
    </section>
  )
}
