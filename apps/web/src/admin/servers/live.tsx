import type { LiveConnections, Server } from '@netlet/contract'
import { isAgentRefusal } from '@netlet/contract/agent-codes'
import { pageAt } from '@netlet/contract/pages'
import { Button } from '@mantine/core'
import { IconArrowLeft, IconPlugX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { useMay } from '../../api/may.ts'
import { read } from '../../api/query.ts'
import { fleet } from '../../api/routes.ts'
import { useT as useAccountT } from '../../i18n/account.ts'
import { useT } from '../../i18n/admin.ts'
import { bytesText } from '../../kit/bytes.ts'
import { numberText } from '../../kit/number.ts'
import { Ago } from '../../kit/time.tsx'
import { codeText } from '../../kit/traffic/codes.ts'
import { AbuseAlarms } from '../abuse/alarms.tsx'
import { type Column, DataTable, May, risky, useCommand, WorkButton } from '../kit/index.ts'
import { LiveLog } from './live-log.tsx'

/** Milliseconds between polls while the panel is open. */
const EVERY = 5000

/** What a server does now. Its agent is queried only while the panel is open. */
export function LivePanel({ server }: { server: Server }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  return (
    <May make={fleet.live}>
      <section className="card stack panel shrinks" style={{ gap: '0.75rem' }} aria-label={t('live.title')}>
        <div className="row" style={{ gap: '0.5rem 1rem' }}>
          <h3 className="size-body">{t('live.title')}</h3>
          <Button
            className="push"
            size="compact-sm"
            variant="default"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            {t(open ? 'live.hide' : 'live.show')}
          </Button>
        </div>
        {open && (
          <div className="stack">
            <AbuseAlarms of={{ server_id: server.id }} quiet />
            <Connections serverId={server.id} />
            <LiveLog serverId={server.id} />
          </div>
        )}
      </section>
    </May>
  )
}

function Connections({ serverId }: { serverId: number }) {
  const t = useT()
  const [user, setUser] = useState<string | undefined>()
  const { data, isPending, error, refetch } = useQuery({
    ...read(fleet.live, { params: { id: serverId }, query: { user } }),
    refetchInterval: EVERY
  })
  const failing = { pending: isPending, error, onRetry: () => void refetch() }
  return (
    <>
      {user === undefined ? (
        <DataTable
          label={t('live.users')}
          columns={useUserColumns(serverId, data, setUser)}
          rows={data?.users}
          rowKey={row => row.user}
          empty={{ title: t('live.none') }}
          {...failing}
        />
      ) : (
        <>
          <div className="row" style={{ gap: '0.5rem 1rem' }}>
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<IconArrowLeft size={16} aria-hidden />}
              onClick={() => setUser(undefined)}
            >
              {t('live.allUsers')}
            </Button>
            <span>{t('live.of', { user, count: numberText(data?.total ?? 0) })}</span>
          </div>
          <DataTable
            label={t('live.connections')}
            columns={useConnectionColumns(serverId, user)}
            rows={data?.connections}
            rowKey={row => row.id}
            empty={{ title: t('live.none') }}
            {...failing}
          />
        </>
      )}
      {data && <Outcomes data={data} />}
    </>
  )
}

type EndProps = { serverId: number; user: string; connection?: string; count: number }

/** Ends one connection of a user, or all of them. @param count how many */
function End({ serverId, user, connection, count }: EndProps) {
  const t = useT()
  const { mayCall } = useMay()
  const end = useCommand(fleet.endConnections, {
    invalidate: [fleet.live],
    success: t('live.ended'),
    confirm: risky(
      {
        title: t(connection === undefined ? 'live.endAll' : 'live.endOne'),
        body: t('live.endBody', { user }),
        danger: true
      },
      count
    )
  })
  if (!mayCall(fleet.endConnections)) return null
  return (
    <WorkButton
      size="compact-sm"
      variant="default"
      leftSection={<IconPlugX size={16} aria-hidden />}
      working={end.running}
      onClick={() => void end.run({ params: { id: serverId }, body: { user, connection } })}
    >
      {t(connection === undefined ? 'live.endAll' : 'live.endOne')}
    </WorkButton>
  )
}

function useUserColumns(
  serverId: number,
  data: LiveConnections | undefined,
  onUser: (user: string) => void
): Column<LiveConnections['users'][number]>[] {
  const t = useT()
  return [
    {
      key: 'user',
      title: t('live.user'),
      lead: true,
      render: ({ user }) => (
        <>
          <Button className="mono" size="compact-sm" variant="subtle" data-open onClick={() => onUser(user)}>
            {user}
          </Button>
          {data?.orders[user] !== undefined && (
            <Link to={pageAt('order', { id: data.orders[user] })}>{t('live.order')}</Link>
          )}
        </>
      )
    },
    { key: 'count', title: t('live.count'), align: 'end', render: row => numberText(row.count) },
    { key: 'up', title: t('live.up'), align: 'end', render: row => bytesText(row.up) },
    { key: 'down', title: t('live.down'), align: 'end', render: row => bytesText(row.down) },
    { key: 'since', title: t('live.since'), render: row => <Ago at={row.since} /> },
    {
      key: 'end',
      title: t('list.actions'),
      hidden: true,
      render: row => <End serverId={serverId} user={row.user} count={row.count} />
    }
  ]
}

function useConnectionColumns(serverId: number, user: string): Column<LiveConnections['connections'][number]>[] {
  const t = useT()
  const mono = (text: string) => <span className="mono">{text}</span>
  return [
    { key: 'target', title: t('live.target'), lead: true, render: row => mono(row.target) },
    { key: 'client', title: t('live.client'), render: row => mono(row.client) },
    { key: 'ip', title: t('live.ip'), render: row => mono(row.ip) },
    { key: 'up', title: t('live.up'), align: 'end', render: row => bytesText(row.up) },
    { key: 'down', title: t('live.down'), align: 'end', render: row => bytesText(row.down) },
    { key: 'since', title: t('live.since'), render: row => <Ago at={row.since} /> },
    {
      key: 'end',
      title: t('list.actions'),
      hidden: true,
      render: row => <End serverId={serverId} user={user} connection={row.id} count={1} />
    }
  ]
}

/** Today's refusals and errors by their codes in the agent's access log. */
function Outcomes({ data: { refusals: counts, refusals_since: since } }: { data: LiveConnections }) {
  const all = Object.entries(counts).toSorted(([, a], [, b]) => b - a)
  return (
    <>
      <Counts of="refusals" since={since} counts={all.filter(([code]) => isAgentRefusal(code))} />
      <Counts of="errors" since={since} counts={all.filter(([code]) => !isAgentRefusal(code))} />
    </>
  )
}

type CountsProps = { of: 'refusals' | 'errors'; since: string; counts: [code: string, count: number][] }

function Counts({ of, since, counts }: CountsProps) {
  const t = useT()
  const tAccount = useAccountT()
  return (
    <section aria-label={t(`live.${of}`)}>
      <h4>
        {t(`live.${of}`)} <Ago at={since} />
      </h4>
      {counts.length === 0 ? (
        <p className="dim">{t(of === 'refusals' ? 'live.noRefusals' : 'live.noErrors')}</p>
      ) : (
        <ul>
          {counts.map(([code, count]) => (
            <li key={code}>
              {codeText(tAccount, code)}: {numberText(count)}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
