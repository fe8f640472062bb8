import { SegmentedControl, Skeleton, Tabs } from '@mantine/core'
import { BLOCK_CAUSES, type BlockedAddress, type MailContent, type MailDetail, type SentMail } from '@netlet/contract'
import { MAIL_STATES } from '@netlet/contract/states'
import { IconEye, IconMailForward, IconSend } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { read } from '../../api/query.ts'
import { mail } from '../../api/routes.ts'
import en from '../../i18n/admin.en.json'
import { type Key, useT } from '../../i18n/admin.ts'
import { LANGUAGES, useLanguage } from '../../i18n/language.ts'
import { none } from '../../kit/none.tsx'
import { StateBadge } from '../../kit/state-badge.tsx'
import { ErrorState } from '../../kit/states.tsx'
import { Moment } from '../../kit/time.tsx'
import { useAddress } from '../../kit/use-address.ts'
import {
  AuditLink,
  type Fact,
  FactList,
  TabBar,
  type Tools,
  column,
  defineResource,
  integer,
  moment,
  oneOf
} from '../kit/index.ts'
import classes from './mails.module.css'
import '../../kit/styles/forms.ts'

/** A mail beside the log: its result and its text. */
function MailDrawer({ id }: { id: number; row: SentMail | undefined; tools: Tools }) {
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

/** Every template in each language, filled with sample data. */
function Previews() {
  const t = useT()
  const language = useLanguage()
  const { data, error, refetch } = useQuery(read(mail.templates))
  const { query, change } = useAddress()
  const chosen = query.get('template')
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  const keyOf = (one: { template: string; language: string }) => `${one.template} ${one.language}`
  const shown = data?.find(one => keyOf(one) === chosen) ?? data?.find(one => one.language === language)
  return (
    <div className={classes.previews}>
      <ul className={classes.templates} aria-label={t('mails.preview')}>
        {data?.map(one => (
          <li key={keyOf(one)}>
            <button
              type="button"
              aria-pressed={one === shown}
              onClick={() => change({ template: keyOf(one) }, { push: true })}
            >
              <span>{one.subject}</span>
              <span className="dim mono">{keyOf(one)}</span>
              <span className="dim">{t(`mails.kindOf.${one.kind}`)}</span>
            </button>
          </li>
        ))}
      </ul>
      {shown && (
        // Sandboxed without scripts, forms or our origin, because templates contain customers' input.
        <iframe
          className={classes.frame}
          sandbox=""
          srcDoc={shown.html}
          title={t('mails.previewOf', { template: keyOf(shown) })}
        />
      )}
    </div>
  )
}

/** Every mail that the shop sent, and its result. The drawer shows its text. */
const MailLog = defineResource({
  key: 'mails',
  list: mail.mails,
  address: ['tab'],
  nameOf: row => row.to,
  columns: [
    integer('id', { optional: true }),
    column('to', (row: SentMail) => row.to, { lead: true }),
    column('template', (row: SentMail) => <Template name={row.template} />),
    column('kind', (row: SentMail) => <Kind row={row} />),
    column('language', (row: SentMail) => <Language row={row} />, { optional: true }),
    column('state', (row: SentMail) => <State row={row} />),
    column('error', (row: SentMail) => <Failure row={row} />, { wide: true }),
    moment('created_at'),
    moment('sent_at', { optional: true })
  ],
  sort: ['id'],
  filters: [oneOf('state', MAIL_STATES, 'mails.is')],
  drawer: MailDrawer,
  rowActions: [
    { name: 'view', icon: IconEye, run: (row, tools) => tools.show(row.id), needs: mail.mail },
    {
      name: 'sendAgain',
      icon: IconSend,
      route: mail.sendAgain,
      whyNot: ({ send_again }) => (send_again === 'possible' ? undefined : `whyNot.mail.${send_again}`),
      confirm: (t, row) => ({ title: t('mails.sendAgain'), body: t('mails.sendAgainBody', { to: row.to }) }),
      success: t => t('mails.sentAgain')
    }
  ],
  moving: row => row.state === 'waiting',
  problem: row => row.state === 'failed',
  csv: true
})

/** Addresses that the shop does not mail until an operator releases them. */
const BlockedAddresses = defineResource({
  key: 'blocks',
  list: mail.blocks,
  address: ['tab'],
  nameOf: row => row.address,
  columns: [
    integer('id', { optional: true }),
    column('address', (row: BlockedAddress) => row.address, { lead: true }),
    column('cause', (row: BlockedAddress) => <Cause row={row} />),
    column('reason', (row: BlockedAddress) => row.reason || none, { wide: true }),
    column('source', (row: BlockedAddress) => <Source row={row} />),
    moment('at')
  ],
  sort: ['id'],
  filters: [oneOf('cause', BLOCK_CAUSES, 'blocks.causeIs')],
  rowActions: [
    {
      name: 'lift',
      icon: IconMailForward,
      route: mail.liftBlock,
      confirm: (t, { address, cause }) => ({
        title: t('blocks.lift'),
        body: t(cause === 'complained' ? 'blocks.liftBodyComplained' : 'blocks.liftBody', { address })
      }),
      success: t => t('blocks.lifted')
    }
  ],
  csv: true
})

function Cause({ row }: { row: BlockedAddress }) {
  const t = useT()
  return <>{t(`blocks.causeIs.${row.cause}`)}</>
}

function Source({ row }: { row: BlockedAddress }) {
  const t = useT()
  return <>{t(`blocks.sourceIs.${row.source}`)}</>
}

const TABS = ['log', 'blocked', 'preview'] as const

export default function MailsPage() {
  const t = useT()
  const [params, setParams] = useSearchParams()
  const tab = TABS.find(name => name === params.get('tab')) ?? 'log'
  return (
    <Tabs value={tab} onChange={id => id && setParams(id === 'log' ? {} : { tab: id })} keepMounted={false}>
      <TabBar value={tab}>
        <Tabs.Tab value="log">{t('mails.log')}</Tabs.Tab>
        <Tabs.Tab value="blocked">{t('mails.blocked')}</Tabs.Tab>
        <Tabs.Tab value="preview">{t('mails.preview')}</Tabs.Tab>
      </TabBar>
      <Tabs.Panel value="log" pt="md">
        <MailLog />
      </Tabs.Panel>
      <Tabs.Panel value="blocked" pt="md">
        <BlockedAddresses />
      </Tabs.Panel>
      <Tabs.Panel value="preview" pt="md">
        <Previews />
      </Tabs.Panel>
    </Tabs>
  )
}

/** Why it was not sent, with the mail service's own words. */
function Failure({ row: { error, error_code: code, state } }: { row: SentMail }) {
  const t = useT()
  if (!code) return error ?? none
  return (
    <>
      {t(`mails.why.${code}`)}
      {error && state !== 'skipped' && <div className="dim">{error}</div>}
    </>
  )
}

/** The mail's name in words, and its technical name. */
function Template({ name }: { name: string }) {
  const t = useT()
  const key = `mails.name.${name}`
  return (
    <>
      {key in en ? t(key as Key) : name}
      {key in en && <div className="dim mono">{name}</div>}
    </>
  )
}

function Kind({ row }: { row: SentMail }) {
  const t = useT()
  return <>{t(`mails.kindOf.${row.kind}`)}</>
}

const TONES = { waiting: 'busy', sent: 'good', bounced: 'bad', failed: 'bad', skipped: 'off' } as const

function State({ row }: { row: SentMail }) {
  const t = useT()
  return <StateBadge tone={TONES[row.state]}>{t(`mails.is.${row.state}`)}</StateBadge>
}

/** Each language in its own name. */
const Language = ({ row }: { row: SentMail }) => <>{LANGUAGES[row.language]}</>
