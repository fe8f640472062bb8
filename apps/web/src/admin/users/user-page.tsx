import '../../kit/styles/forms.ts'
import '../../kit/styles/tables.ts'
import type { AuditEntry, PointRecord, UserApiKey, UserDetail, WebhookEndpoint } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Tabs } from '@mantine/core'
import { parseAsInteger, parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs'
import { Fragment, type ReactNode } from 'react'
import { Link, useNavigate } from 'react-router'
import type { Endpoint } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { read } from '../../api/query.ts'
import { accounts, orders, rewards, settings, webhooks } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { TrafficPanel } from '../../kit/traffic/traffic-panel.tsx'
import { DeliveryLog, NO_LOG } from '../../kit/webhooks/log.tsx'
import { useTitle } from '../../kit/use-title.ts'
import {
  type Column,
  DataTable,
  type Fact,
  FactList,
  KeyboardRows,
  RowPage,
  RowPageHead,
  RowTools,
  StatList,
  TabBar
} from '../kit/index.ts'
import { Address, Country, LastLogin, pathOfUser, StatusBadge } from './cells.tsx'
import { LoginsTab, OrdersTab, PagedTable, PaymentsTab, TicketsTab } from './lists.tsx'
import Users from './page.tsx'
import { SessionsTab } from './sessions-tab.tsx'
import { type TabName, TABS } from './tabs.ts'
import { Ago, Day, Moment, useClock } from '../../kit/time.tsx'
import { actionText } from '../audit/labels.ts'
import { Changes } from '../audit/cells.tsx'
import { none } from '../../kit/none.tsx'
import { useQuery } from '@tanstack/react-query'
import { StateBadge, StateWithDetails } from '../../kit/state-badge.tsx'
import { money, numberText } from '../../kit/money.ts'
import { usePointReason } from '../../kit/point-reason.ts'
import { EndpointState } from '../../kit/webhooks/delivery.tsx'

/** More than a customer may have. */
const MOST = 50

/** A user's webhook endpoints, which only the owner changes, and their deliveries. */
function WebhooksTab({ user }: { user: UserDetail }) {
  const t = useT()
  const { mayCall } = useMay()
  const { data, isPending, error, refetch } = useQuery(
    read(webhooks.allEndpoints, { query: { user_id: user.id, limit: MOST } })
  )
  const columns: Column<WebhookEndpoint>[] = [
    { key: 'url', title: t('hook-log.url'), lead: true, render: row => <span className="mono">{row.url}</span> },
    { key: 'state', title: t('hook-log.state'), wide: true, render: row => <EndpointState endpoint={row} /> },
    {
      key: 'events',
      title: t('hook-log.events'),
      wide: true,
      render: row => row.events.map(event => t(`hook-log.eventOf.${event}`)).join(', ')
    },
    { key: 'made', title: t('users.keyMade'), render: row => <Ago at={row.created_at} /> }
  ]
  return (
    <div className="stack">
      <DataTable
        label={t('hooks.endpoints')}
        columns={columns}
        rows={data?.data}
        rowKey={row => row.id}
        pending={isPending}
        error={error}
        onRetry={() => void refetch()}
        empty={{ title: t('users.none.webhooks'), compact: true }}
      />
      <KeyboardRows>
        <DeliveryLog userId={user.id} canResend={mayCall(webhooks.resendAny)} />
      </KeyboardRows>
    </div>
  )
}

const signed = (point: number): string => (point > 0 ? '+' : '') + numberText(point)

function PointsTab({ user }: { user: UserDetail }) {
  const t = useT()
  const reasonOf = usePointReason()
  return (
    <div className="stack">
      <StatList
        label={t('users.balances')}
        stats={[
          [t('users.reward_points'), numberText(user.reward_points)],
          [t('users.pending'), numberText(user.pending_points)],
          [t('users.owed'), numberText(user.owed_points)],
          [t('users.level_points'), numberText(user.level_points)],
          [t('users.level'), numberText(user.level)]
        ]}
      />
      <PagedTable<PointRecord>
        name="points"
        route={rewards.userPoints}
        params={{ id: user.id }}
        columns={[
          { key: 'created_at', title: t('users.time'), render: record => <Ago at={record.created_at} /> },
          { key: 'reason', title: t('users.cause'), lead: true, render: reasonOf },
          { key: 'kind', title: t('users.kind'), render: record => t(`users.kind.${record.kind}`) },
          {
            key: 'point',
            title: t('users.change'),
            align: 'end',
            render: record => <span className="num">{signed(record.point)}</span>
          },
          {
            key: 'pending',
            title: t('users.pendingUntil'),
            render: record => (record.pending_until ? <Day at={record.pending_until} /> : none)
          }
        ]}
      />
    </div>
  )
}

const stateOf = ({ revoked_at, expires_at }: UserApiKey, now: number) =>
  revoked_at ? 'users.keyEnded' : expires_at && Date.parse(expires_at) <= now ? 'users.keyExpired' : 'users.active'

/** A user's API keys, including ended ones. Only the owner can revoke a single key. */
function KeysTab({ user }: { user: UserDetail }) {
  const t = useT()
  const now = useClock()
  const { data, isPending, error, refetch } = useQuery(read(accounts.userApiKeys, { params: { id: user.id } }))
  const columns: Column<UserApiKey>[] = [
    { key: 'name', title: t('users.keyName'), lead: true, render: key => key.name },
    { key: 'hint', title: t('users.keyHint'), render: key => <span className="mono">{`${key.hint}…`}</span> },
    { key: 'scopes', title: t('users.scopes'), render: key => (key.permissions ?? key.scopes).join(', ') },
    {
      key: 'state',
      title: t('users.status'),
      render: key => (
        <StateBadge tone={stateOf(key, now) === 'users.active' ? 'good' : 'off'}>{t(stateOf(key, now))}</StateBadge>
      )
    },
    { key: 'created_at', title: t('users.keyMade'), render: key => <Day at={key.created_at} /> },
    { key: 'ends', title: t('users.keyEnds'), render: key => (key.expires_at ? <Day at={key.expires_at} /> : none) },
    {
      key: 'used',
      title: t('users.used'),
      render: key => (key.last_used_at ? <Ago at={key.last_used_at} /> : t('users.never'))
    },
    { key: 'ended', title: t('users.ended'), render: key => (key.revoked_at ? <Ago at={key.revoked_at} /> : none) }
  ]
  return (
    <DataTable
      label={t('users.tab.keys')}
      columns={columns}
      rows={data}
      rowKey={key => key.id}
      pending={isPending}
      error={error}
      onRetry={() => void refetch()}
      empty={{ title: t('users.none.keys') }}
    />
  )
}

function AuditTab({ user }: { user: UserDetail }) {
  const t = useT()
  return (
    <PagedTable<AuditEntry>
      name="audit"
      route={settings.audit}
      query={{ target_type: 'user', target_id: String(user.id) }}
      columns={[
        { key: 'at', title: t('users.time'), render: entry => <Ago at={entry.at} /> },
        { key: 'actor', title: t('users.actor'), render: entry => entry.actor },
        {
          key: 'action',
          title: t('users.action'),
          lead: true,
          render: entry => (
            <Link to={`${pageAt('audit')}?open=${entry.id}`} title={entry.action}>
              {actionText(t, entry.action)}
            </Link>
          )
        },
        { key: 'changes', title: t('users.changes'), wide: true, render: entry => <Changes entry={entry} /> },
        {
          key: 'ip',
          title: t('users.address'),
          render: entry => (entry.ip ? <span className="mono">{entry.ip}</span> : none)
        }
      ]}
    />
  )
}

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

/** A user at a glance. Each figure links to its rows. */
export function Summary({ user }: { user: UserDetail }) {
  const t = useT()
  const { figures } = user
  const tab = (name: TabName) => `?tab=${name}`
  const stats: [string, string, string][] = [
    [t('users.figure.orders'), tab('orders'), numberText(figures.orders)],
    [t('users.figure.live'), `${tab('orders')}&orders_are=live`, numberText(figures.live_orders)],
    [t('users.figure.unpaid'), `${tab('orders')}&orders_are=unpaid`, numberText(figures.unpaid_orders)],
    [t('users.figure.paid'), tab('payments'), money(figures.paid)],
    [t('users.reward_points'), tab('points'), numberText(user.reward_points)],
    [t('users.tab.keys'), tab('keys'), numberText(user.api_keys)],
    [t('users.tab.sessions'), tab('sessions'), numberText(user.sessions)]
  ]
  const facts: Fact[] = [
    [t('users.id'), user.id],
    [t('users.email'), <Email of={user} />],
    [t('users.chat'), user.discord_name ?? t('users.noChat')],
    [t('users.secondFactors'), numberText(user.second_factors)],
    [t('users.language'), user.language],
    [t('users.created_at'), <Moment at={user.created_at} ago />],
    [t('users.level'), user.level],
    [t('users.level_points'), numberText(user.level_points)],
    [t('users.invite_code'), <span className="mono">{user.invite_code}</span>],
    [t('users.invite_count'), numberText(user.invite_count)],
    [
      t('users.invited_by'),
      user.invited_by ? <Link to={pathOfUser(user.invited_by.id)}>{user.invited_by.username}</Link> : '–'
    ],
    [t('users.last_login'), <LastLogin at={user.last_login_time} />],
    [t('users.last_login_ip'), <Address ip={user.last_login_ip} country={user.last_location} />],
    [t('users.location'), <Country country={user.last_location} />]
  ]
  return (
    <div className="stack">
      <StatList
        label={t('users.figures')}
        stats={stats.map(([title, to, value]) => [title, <Link to={to}>{value}</Link>])}
      />
      <div className="card panel">
        <FactList facts={facts} />
      </div>
    </div>
  )
}

function Email({ of: { email, mail_blocked: blocked } }: { of: UserDetail }) {
  const t = useT()
  // Allow long addresses to wrap at '@' and '.'.
  const broken = email.split(/(?<=[@.])/).map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ))
  if (!blocked) return broken
  return (
    <StateWithDetails>
      <span>{broken}</span>
      <Link to={`${pageAt('mails')}?tab=blocked&search=${encodeURIComponent(email)}`}>
        {t(`users.mailBlocked.${blocked}`)}
      </Link>
    </StateWithDetails>
  )
}
