import { SegmentedControl, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { MailContent, MailDetail, SentMail } from '@netlet/contract'
import { useState } from 'react'
import { read } from '../../api/query.ts'
import { mail } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { ErrorState } from '../../kit/states.tsx'
import { Moment } from '../../kit/time.tsx'
import { AuditLink, FactList, type Fact, type Tools } from '../kit/index.ts'
import { Failure, Kind, Language, State, Template } from './cells.tsx'
import classes from './mails.module.css'

/** A mail beside the log: its result and its text. */
export function MailDrawer({ id }: { id: number; row: SentMail | undefined; tools: Tools }) {
  const { data, error, refetch } = useQuery({
    ...read(mail.mail, { params: { id } }),
    // Reading a mail is audited, and its text never changes, so read it once per opening.
    staleTime: Infinity,
    gcTime: 0,
    refetchOnReconnect: false
  })
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={480} />
  return (
    <div className="stack">
      <Facts of={data} />
      {data.content ? <Content of={data.content} /> : <NoContent of={data} />}
      <AuditLink of="mail" id={id} />
    </div>
  )
}

function Facts({ of: row }: { of: MailDetail }) {
  const t = useT()
  const facts: Fact[] = [
    [t('mails.subject'), row.content?.subject],
    [t('mails.to'), row.to],
    [t('mails.language'), <Language row={row} />],
    [t('mails.template'), <Template name={row.template} />],
    [t('mails.kind'), <Kind row={row} />],
    [t('mails.state'), <State row={row} />],
    [t('mails.created_at'), <Moment at={row.created_at} />],
    [t('mails.sent_at'), row.sent_at && <Moment at={row.sent_at} />],
    [t('mails.error'), (row.error_code ?? row.error) && <Failure row={row} />]
  ]
  return <FactList label={t('mails.one')} facts={facts} />
}

function Content({ of: { subject, html, text } }: { of: MailContent }) {
  const t = useT()
  const [part, setPart] = useState('html')
  return (
    <section className="stack" aria-label={t('mails.said')}>
      <SegmentedControl
        aria-label={t('mails.part')}
        value={part}
        onChange={setPart}
        data={[
          { value: 'html', label: t('mails.html') },
          { value: 'text', label: t('mails.text') }
        ]}
      />
      {part === 'html' ? (
        // Sandboxed without scripts, forms or our origin, because mails contain customers' input.
        <iframe className={classes.frame} sandbox="" srcDoc={html} title={subject} />
      ) : (
        <pre className={classes.text}>{text}</pre>
      )}
      <p className="dim">{t('mails.masked')}</p>
    </section>
  )
}

function NoContent({ of: { state, sent_at: sentAt } }: { of: MailDetail }) {
  const t = useT()
  const gone = state === 'failed' || sentAt !== null
  return <p className="dim">{t(gone ? 'mails.notKept' : state === 'skipped' ? 'mails.neverSent' : 'mails.notYet')}</p>
}
