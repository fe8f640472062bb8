import '../../kit/styles/forms.ts'
import '../../kit/styles/tables.ts'
import type { UserDetail } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Tabs } from '@mantine/core'
import { parseAsInteger, parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs'
import { type ReactNode } from 'react'
import { useNavigate } from 'react-router'
import type { Endpoint } from '../../api/client.ts'
import { useMay } from '../../api/may.ts'
import { read } from '../../api/query.ts'
import { accounts, orders, settings, webhooks } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { TrafficPanel } from '../../kit/traffic/traffic-panel.tsx'
import { NO_LOG } from '../../kit/webhooks/log.tsx'
import { useTitle } from '../../kit/use-title.ts'
import { RowPage, RowPageHead, RowTools, TabBar } from '../kit/index.ts'
import { AuditTab } from './audit-tab.tsx'
import { StatusBadge } from './cells.tsx'
import { KeysTab } from './keys-tab.tsx'
import { LoginsTab, OrdersTab, PaymentsTab, TicketsTab } from './lists.tsx'
import Users from './page.tsx'
import { PointsTab } from './points-tab.tsx'
import { SessionsTab } from './sessions-tab.tsx'
import { Summary } from './summary.tsx'
import { WebhooksTab } from './webhooks-tab.tsx'
import { TABS, type TabName } from './tabs.ts'

const LIST = pageAt('userList')

/** One user: the shop's data and actions. The tab is in the address. */
export default function UserPage() {
  const t = useT()
  return (
    <RowPage
      query={id => read(accounts.user, { params: { id } })}
      back={{ to: LIST, title: t('users.back') }}
      gone={{ title: t('users.gone'), body: t('users.goneHint') }}
    >
      {user => <Shown user={user} />}
    </RowPage>
  )
}

function Shown({ user }: { user: UserDetail }) {
  const t = useT()
  const navigate = useNavigate()
  useTitle(user.username)
  return (
    <div className="stack">
      <RowPageHead
        back={{ to: LIST, title: t('users.back') }}
        actions={<RowTools of={Users} row={user} onGone={() => void navigate(LIST, { replace: true })} />}
      >
        <h2>{user.username}</h2>
        <StatusBadge user={user} />
        {user.is_superuser && <span className="dim">{t('users.is_superuser')}</span>}
      </RowPageHead>
      <Panels user={user} />
    </div>
  )
}

/** Parameters of one tab that other tabs must not inherit. */
const ELSEWHERE = { page: null, after: null, orders_are: null, ...NO_LOG }

function Panels({ user }: { user: UserDetail }) {
  const t = useT()
  const [{ tab }, set] = useQueryStates(
    {
      tab: parseAsStringLiteral(TABS).withDefault('summary'),
      page: parseAsInteger,
      after: parseAsString,
      orders_are: parseAsString,
      log_state: parseAsString,
      log_page: parseAsInteger,
      delivery: parseAsInteger
    },
    { history: 'push' }
  )
  const { mayCall } = useMay()
  const needs: Partial<Record<TabName, Endpoint>> = { audit: settings.audit, webhooks: webhooks.allDeliveries }
  const shown = TABS.filter(name => !needs[name] || mayCall(needs[name]))
  const panels: Record<TabName, ReactNode> = {
    summary: <Summary user={user} />,
    orders: <OrdersTab user={user} />,
    payments: <PaymentsTab user={user} />,
    points: <PointsTab user={user} />,
    traffic: <TrafficPanel query={range => read(orders.userTraffic, { params: { id: user.id }, query: range })} />,
    keys: <KeysTab user={user} />,
    webhooks: <WebhooksTab user={user} />,
    sessions: <SessionsTab user={user} />,
    logins: <LoginsTab user={user} />,
    tickets: <TicketsTab user={user} />,
    audit: <AuditTab user={user} />
  }
  return (
    <Tabs
      value={shown.includes(tab) ? tab : 'summary'}
      keepMounted={false}
      onChange={next => void set({ ...ELSEWHERE, tab: TABS.find(name => name === next) ?? null })}
    >
      <TabBar value={tab}>
        {shown.map(name => (
          <Tabs.Tab key={name} value={name}>
            {t(`users.tab.${name}`)}
          </Tabs.Tab>
        ))}
      </TabBar>
      {shown.map(name => (
        <Tabs.Panel key={name} value={name} pt="md">
          {panels[name]}
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
