import '../kit/styles.ts'
import '../../kit/styles/forms.ts'
import { Tabs } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { useT } from '../../i18n/admin.ts'
import { mayLeave } from '../../kit/leaving.ts'
import { TabBar } from '../kit/index.ts'
import { NoticeChannels } from './channels.tsx'
import { NoticeLog } from './log.tsx'
import { NoticeRulesPart } from './rules.tsx'

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
