import '../kit/styles.ts'
import '../../kit/styles/forms.ts'
import { Skeleton, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import { read } from '../../api/query.ts'
import { settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { ErrorState } from '../../kit/states.tsx'
import { TabBar } from '../kit/index.ts'
import { type Tab, TABS } from './fields.ts'
import { Logs } from './logs.tsx'
import { SettingsFormPart } from './settings-form.tsx'

export default function WebSettingsPage() {
  const t = useT()
  const [params, setParams] = useSearchParams()
  const tab: Tab | undefined = TABS.find(({ id }) => id === params.get('tab')) ?? TABS[0]
  const open = (id: string) => setParams({ tab: id })
  const { data, error, refetch } = useQuery(read(settings.config))
  if (!tab) return null
  return (
    <div className="stack">
      <Tabs value={tab.id} onChange={id => id && open(id)} keepMounted={false}>
        <TabBar value={tab.id}>
          {TABS.map(({ id }) => (
            <Tabs.Tab key={id} value={id}>
              {t(`webSettings.tab.${id}`)}
            </Tabs.Tab>
          ))}
        </TabBar>
        {/* One panel for all tabs, so that typed values survive a change of tab. */}
        <Tabs.Panel value={tab.id} pt="md">
          {tab.id === 'logs' && <Logs />}
          <div hidden={tab.id === 'logs'}>
            {data ? (
              <SettingsFormPart loaded={data} tab={tab} onTab={open} />
            ) : error ? (
              <ErrorState error={error} onRetry={() => void refetch()} />
            ) : (
              <Skeleton height={420} />
            )}
          </div>
        </Tabs.Panel>
      </Tabs>
    </div>
  )
}
