import '../kit/styles.ts'
import '../../kit/styles/forms.ts'
import { Tabs } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { useT } from '../../i18n/admin.ts'
import { TabBar } from '../kit/index.ts'
import { DeadLetters } from './dead-letters.tsx'
import { Monitor } from './monitor.tsx'
import { Queues, Schedules } from './tables.tsx'

const TABS = { schedules: Schedules, queues: Queues, dead: DeadLetters, monitor: Monitor } as const
type TabId = keyof typeof TABS

/** Background work: schedules, queues, failures and the job queue's own monitor. */
export default function TasksPage() {
  const t = useT()
  const [params, setParams] = useSearchParams()
  const asked = params.get('tab') ?? ''
  const tab: TabId = asked in TABS ? (asked as TabId) : 'schedules'
  const Shown = TABS[tab]
  return (
    <Tabs value={tab} onChange={id => id && setParams({ tab: id })} keepMounted={false}>
      <TabBar value={tab}>
        {(Object.keys(TABS) as TabId[]).map(id => (
          <Tabs.Tab key={id} value={id}>
            {t(`tasks.tab.${id}`)}
          </Tabs.Tab>
        ))}
      </TabBar>
      <Tabs.Panel value={tab} pt="md">
        <Shown />
      </Tabs.Panel>
    </Tabs>
  )
}
