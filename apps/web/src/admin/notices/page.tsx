import '../kit/styles.ts'
import '../../kit/styles/forms.ts'
import { Tabs } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { useT } from '../../i18n/admin.ts'
import { mayLeave } from '../../kit/leaving.ts'
import { TabBar, column, defineResource, integer, integerField, oneOf } from '../kit/index.ts'
import { NoticeChannels } from './channels.tsx'
import { NoticeRulesPart } from './rules.tsx'
import { IconBellOff, IconCheck, IconEye } from '@tabler/icons-react'
import type { Notice } from '@netlet/contract'
import { NOTICE_CAUSE_NAMES, NOTICE_SEVERITIES } from '@netlet/contract/notice-causes'
import { call } from '../../api/client.ts'
import { home, notices } from '../../api/routes.ts'
import { MuteNoticeForm } from '../../kit/schemas.ts'
import { Moment } from '../../kit/time.tsx'
import { Cause, Severity, State, Title, Told } from './cells.tsx'
import { NoticeDrawer } from './drawer.tsx'

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
    column('sends', (row: Notice) => <Told row={row} />)
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
