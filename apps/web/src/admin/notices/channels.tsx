import { IconSend } from '@tabler/icons-react'
import type { Notice, NoticeChannel, NoticeSend } from '@netlet/contract'
import { NOTICE_CHANNELS } from '@netlet/contract/notice-causes'
import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { accounts, notices } from '../../api/routes.ts'
import { failureText } from '../../i18n/failures.ts'
import { notify } from '../../kit/notify.ts'
import { NoticeChannelForm } from '../../kit/schemas.ts'
import {
  choiceField,
  column,
  defineResource,
  idsField,
  optional,
  secretField,
  switchField,
  type T,
  textField
} from '../kit/index.ts'
import { Link } from 'react-router'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { StateBadge } from '../../kit/state-badge.tsx'
import { Ago, Moment } from '../../kit/time.tsx'

/** More administrators than any shop has. */
const MOST = 200

function useOperators() {
  const { data } = useQuery(read(accounts.users, { query: { is_superuser: '1', limit: MOST } }))
  return data?.data.map(({ id, username }) => ({ value: String(id), label: username }))
}

const flag = <const N extends string>(name: N) => ({ ...switchField(name), sent: (value: string) => value === '1' })

/** Channels that notify operators: what each gets at once, and whether it gets the digest. */
export const NoticeChannels = defineResource({
  key: 'notice-channels',
  list: notices.channels,
  address: ['tab'],
  nameOf: row => row.name,
  columns: [
    column('name', (row: NoticeChannel) => <strong>{row.name}</strong>, { lead: true }),
    column('kind', (row: NoticeChannel) => <Kind row={row} />),
    column('target', (row: NoticeChannel) => <Target row={row} />, { wide: true }),
    column('tells', (row: NoticeChannel) => <Tells row={row} />),
    column('state', (row: NoticeChannel) => <ChannelState row={row} />)
  ],
  sort: ['id'],
  form: {
    schema: NoticeChannelForm,
    create: notices.createChannel,
    update: notices.updateChannel,
    // A replaced secret cannot be restored.
    undo: ({ sent }) => !sent['target'] && !sent['secret'],
    fields: [
      textField('name'),
      { ...choiceField('kind', NOTICE_CHANNELS, 'notice-channels.kindOf'), only: 'new' },
      choiceField('language', ['en', 'zh-CN'], 'tickets.in'),
      { ...secretField('target'), help: t => t('notice-channels.targetHelp') },
      { ...secretField('secret'), help: t => t('notice-channels.secretHelp') },
      {
        ...optional(idsField('user_ids', { useOptions: useOperators })),
        help: (t: T) => t('notice-channels.userHelp')
      },
      flag('tell_critical'),
      flag('tell_warning'),
      flag('tell_info'),
      flag('digest'),
      flag('enabled')
    ]
  },
  remove: {
    route: notices.deleteChannel,
    confirm: (t, row) => ({
      title: t('list.deleteTitle'),
      body: t('notice-channels.deleteBody', { name: row.name }),
      danger: true
    })
  },
  rowActions: [
    {
      name: 'test',
      icon: IconSend,
      needs: notices.testChannel,
      run: (row, tools) => void test(row, tools.t).finally(tools.refresh)
    }
  ],
  problem: row => row.failing_since !== null
})

const ASK_EVERY = 700
const ASK_FOR = 30_000

/** Sends a test and waits for its result. */
async function test(row: NoticeChannel, t: T): Promise<void> {
  try {
    const { send_id: id } = await call(notices.testChannel, { params: { id: row.id }, body: {} })
    for (let waited = 0; waited < ASK_FOR; waited += ASK_EVERY) {
      await new Promise(resolve => setTimeout(resolve, ASK_EVERY))
      const { state, failure, status, detail } = await call(notices.send, { params: { id } })
      if (state === 'waiting') continue
      if (state === 'sent') return notify('good', t('notice-channels.tested', { name: row.name }))
      const why = failure ? t(`notices.why.${failure}`, { status: status ?? '–' }) : ''
      return notify('bad', [t('notice-channels.testFailed', { name: row.name }), why, detail ?? ''].join(' ').trim())
    }
    notify('info', t('notice-channels.testWaits', { name: row.name }))
  } catch (error) {
    notify('bad', failureText(error))
  }
}

/** The notice's text in the current language, linked to the rows behind it. */
export function Title({ row }: { row: Notice }) {
  const language = useLanguage()
  return <Link to={row.path}>{row.title[language]}</Link>
}

const TONES = { critical: 'bad', warning: 'wait', info: 'busy' } as const

export function Severity({ row: { severity } }: { row: Pick<Notice, 'severity'> }) {
  const t = useT()
  return <StateBadge tone={TONES[severity]}>{t(`notices.severityOf.${severity}`)}</StateBadge>
}

export function Cause({ row: { cause } }: { row: Pick<Notice, 'cause'> }) {
  const t = useT()
  return <>{t(`notices.causeOf.${cause}`)}</>
}

/** Open or over, and whether it was acknowledged or muted. */
export function State({ row }: { row: Notice }) {
  const t = useT()
  const muted = row.muted_until !== null && row.state === 'open' && Date.parse(row.muted_until) > Date.now()
  return (
    <>
      <StateBadge tone={row.state === 'open' ? 'wait' : 'off'}>{t(`notices.is.${row.state}`)}</StateBadge>
      {row.closed_at && (
        <div className="dim">
          <Ago at={row.closed_at} />
        </div>
      )}
      {row.acknowledged_by && <div className="dim">{t('notices.seenBy', { by: row.acknowledged_by })}</div>}
      {muted && row.muted_until && (
        <div className="dim">
          {t('notices.mutedUntil')} <Moment at={row.muted_until} />
        </div>
      )}
    </>
  )
}

const OUTCOMES = ['sent', 'waiting', 'failed', 'skipped'] as const

/** How often each delivery outcome occurred. */
export function SendCounts({ row: { sends } }: { row: Notice }) {
  const t = useT()
  const some = OUTCOMES.filter(state => sends[state] > 0)
  if (some.length === 0) return <>{t('notices.untold')}</>
  return (
    <>
      {some.map(state => (
        <div key={state} className={state === 'failed' ? 'bad' : undefined}>
          {t(`notices.sendIs.${state}`)}: <span className="num">{sends[state]}</span>
        </div>
      ))}
    </>
  )
}

/** Why a message was not delivered, with the receiver's answer. */
export function Failure({
  of: { failure, status, detail }
}: {
  of: Pick<NoticeSend, 'failure' | 'status' | 'detail'>
}) {
  const t = useT()
  if (!failure) return null
  return (
    <div className="bad">
      {t(`notices.why.${failure}`, { status: status ?? '–' })}
      {detail && <div className="dim">{detail}</div>}
    </div>
  )
}

/** Where a channel sends: a host, or the operators. */
function Target({ row }: { row: NoticeChannel }) {
  const t = useT()
  if (row.kind !== 'mail') return <span className="mono">{row.host}</span>
  return (
    <>{row.user_ids.length === 0 ? t('notice-channels.everyone') : row.user_ids.map(({ name }) => name).join(', ')}</>
  )
}

function Kind({ row: { kind } }: { row: Pick<NoticeChannel, 'kind'> }) {
  const t = useT()
  return <>{t(`notice-channels.kindOf.${kind}`)}</>
}

/** Severities sent at once. The others go into the digest, if the channel gets one. */
function Tells({ row }: { row: NoticeChannel }) {
  const t = useT()
  const told = (['critical', 'warning', 'info'] as const).filter(severity => row[`tell_${severity}`])
  return (
    <>
      {told.map(severity => t(`notices.severityOf.${severity}`)).join(', ') || '–'}
      {row.digest && <div className="dim">{t('notice-channels.withDigest')}</div>}
    </>
  )
}

function ChannelState({ row }: { row: NoticeChannel }) {
  const t = useT()
  if (!row.enabled) return <>{t('notice-channels.off')}</>
  if (row.failing_since && row.failure)
    return (
      <div className="bad">
        {t('notice-channels.failingSince')} <Ago at={row.failing_since} />
        <div>{t(`notices.why.${row.failure}`, { status: '' })}</div>
      </div>
    )
  return row.last_sent_at ? (
    <>
      {t('notice-channels.lastSent')} <Ago at={row.last_sent_at} />
    </>
  ) : (
    <>{t('notice-channels.unused')}</>
  )
}
