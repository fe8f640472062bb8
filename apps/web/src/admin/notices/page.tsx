import { Skeleton, Tabs } from '@mantine/core'
import type { Notice, NoticeDetail, NoticeSend } from '@netlet/contract'
import { NOTICE_CAUSE_NAMES, NOTICE_SEVERITIES } from '@netlet/contract/notice-causes'
import { IconBellOff, IconCheck, IconEye } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'react-router'
import { call } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { home, notices } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { mayLeave } from '../../kit/leaving.ts'
import { MuteNoticeForm } from '../../kit/schemas.ts'
import { ErrorState } from '../../kit/states.tsx'
import { Moment } from '../../kit/time.tsx'
import {
  AuditLink,
  column,
  defineResource,
  type Fact,
  FactList,
  integer,
  integerField,
  oneOf,
  TabBar,
  type Tools
} from '../kit/index.ts'
import { Cause, Failure, NoticeChannels, Severity, State, Title, SendCounts } from './channels.tsx'
import classes from './notices.module.css'
import { NoticeRulesPart } from './rules.tsx'
import '../kit/styles.ts'
import '../../kit/styles/forms.ts'

/** A notice beside the list: its text, the result of each message, and a link to its rows. */
function NoticeDrawer({ id }: { id: number; row: Notice | undefined; tools: Tools }) {
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

const NoticeLog = defineResource({
  key: 'notices',
  list: notices.notices,
  also: [notices.notice, home.attention],
  address: ['tab'],
  find: id => call(notices.notice, { params: { id } }),
  nameOf: row => row.title.en,
  columns: [
    integer('id', { optional: true }),
    column('title', (row: Notice) => <Title row={row} />, { lead: true }),
    column('severity', (row: Notice) => <Severity row={row} />),
    column('cause', (row: Notice) => <Cause row={row} />),
    column('since', (row: Notice) => <Moment at={row.since} />),
    column('state', (row: Notice) => <State row={row} />),
    column('sends', (row: Notice) => <SendCounts row={row} />)
  ],
  sort: ['id'],
  filters: [
    oneOf('state', ['open', 'closed', 'failed'], 'notices.is'),
    oneOf('severity', NOTICE_SEVERITIES, 'notices.severityOf'),
    oneOf('cause', NOTICE_CAUSE_NAMES, 'notices.causeOf')
  ],
  rowActions: [
    { name: 'view', icon: IconEye, run: (row, tools) => tools.show(row.id), needs: notices.notice },
    {
      name: 'acknowledge',
      icon: IconCheck,
      route: notices.acknowledge,
      whyNot: row => (row.acknowledged_at === null ? undefined : 'whyNot.acknowledged'),
      success: t => t('notices.acknowledged')
    },
    {
      name: 'mute',
      icon: IconBellOff,
      whyNot: row => (row.state === 'open' ? undefined : 'whyNot.noticeClosed'),
      form: {
        schema: MuteNoticeForm,
        fields: [{ ...integerField('hours'), help: t => t('notices.hoursHelp'), sent: Number }],
        route: notices.mute
      },
      success: t => t('notices.muted')
    }
  ],
  problem: row => row.sends.failed > 0 && row.acknowledged_at === null,
  moving: row => row.sends.waiting > 0,
  drawer: NoticeDrawer,
  csv: true
})

const TABS = { log: NoticeLog, channels: NoticeChannels, rules: NoticeRulesPart } as const
type TabId = keyof typeof TABS

export default function NoticesPage() {
  const t = useT()
  const [params, setParams] = useSearchParams()
  const asked = params.get('tab') ?? ''
  const tab: TabId = asked in TABS ? (asked as TabId) : 'log'
  const Shown = TABS[tab]
  const choose = async (id: string) => {
    if (await mayLeave()) setParams(id === 'log' ? {} : { tab: id })
  }
  return (
    <Tabs value={tab} onChange={id => id && void choose(id)} keepMounted={false}>
      <TabBar value={tab}>
        {(Object.keys(TABS) as TabId[]).map(id => (
          <Tabs.Tab key={id} value={id}>
            {t(`notices.tab.${id}`)}
          </Tabs.Tab>
        ))}
      </TabBar>
      <Tabs.Panel value={tab} pt="md">
        <Shown />
      </Tabs.Panel>
    </Tabs>
  )
}
