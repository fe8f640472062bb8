import { Button, TextInput } from '@mantine/core'
import type { LiveConnections, Server } from '@netlet/contract'
import { isAgentRefusal } from '@netlet/contract/agent-codes'
import { pageAt } from '@netlet/contract/pages'
import { IconArrowLeft, IconPlugX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Link } from 'react-router'
import { call } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { fleet } from '../../api/routes.ts'
import { useMay } from '../../api/session.ts'
import { useT as useAccountT } from '../../i18n/account.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { bytesText, numberText } from '../../kit/money.ts'
import { Ago } from '../../kit/time.tsx'
import { codeText } from '../../kit/traffic/traffic-panel.tsx'
import { AbuseAlarms } from '../abuse/alarms.tsx'
import { type Column, DataTable, May, UnavailableHint, WorkButton, risky, useCommand } from '../kit/index.ts'
import classes from './servers.module.css'

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

/** Milliseconds between polls, and the largest number of lines shown. */
const LOG_EVERY = 2000
const SHOWN = 500

type Filter = { user: string; address: string; http_status: string }
type Shown = { lines: string[]; missed: number; problem: string }
const NOTHING: Shown = { lines: [], missed: 0, problem: '' }

/** A server's access log, live from the moment it is requested until the screen closes. */
function LiveLog({ serverId }: { serverId: number }) {
  const t = useT()
  const [filter, setFilter] = useState<Filter>({ user: '', address: '', http_status: '' })
  const [following, setFollowing] = useState<Filter | null>(null)
  const shown = useLog(serverId, following)
  const field = (name: keyof Filter) => (
    <TextInput
      label={t(`live.filter.${name}`)}
      size="sm"
      value={filter[name]}
      onChange={event => setFilter({ ...filter, [name]: event.currentTarget.value })}
    />
  )
  return (
    <section className="stack" aria-label={t('live.log')}>
      <h4>{t('live.log')}</h4>
      <form
        className="row"
        style={{ flexWrap: 'wrap', alignItems: 'flex-end' }}
        onSubmit={event => {
          event.preventDefault()
          setFollowing({ ...filter, http_status: filter.http_status.replace(/\D/g, '').slice(0, 3) })
        }}
      >
        {field('user')}
        {field('address')}
        {field('http_status')}
        <Button type="submit" size="sm">
          {t('live.follow')}
        </Button>
        <UnavailableHint why={following === null ? t('live.notFollowing') : undefined}>
          <Button size="sm" variant="default" onClick={() => setFollowing(null)}>
            {t('live.stop')}
          </Button>
        </UnavailableHint>
      </form>
      {shown.problem !== '' && <p role="alert">{shown.problem}</p>}
      {shown.missed > 0 && <p className="dim">{t('live.missed', { count: numberText(shown.missed) })}</p>}
      {(following !== null || shown.lines.length > 0) && (
        <pre className={classes.output} tabIndex={0} aria-label={t('live.log')}>
          {shown.lines.join('\n') || t('live.waiting')}
        </pre>
      )}
    </section>
  )
}

/** Polls for new lines, one request at a time. Stopping keeps the shown lines. */
function useLog(serverId: number, filter: Filter | null): Shown {
  const [shown, setShown] = useState(NOTHING)
  useEffect(() => {
    if (filter === null) return undefined
    setShown(NOTHING)
    let over = false
    let after = 0
    let timer: ReturnType<typeof setTimeout>
    const look = async () => {
      try {
        const { lines, next, missed } = await call(fleet.followLog, {
          params: { id: serverId },
          query: { ...filter, after_line: after }
        })
        if (over) return
        after = next
        setShown(before => ({
          lines: [...before.lines, ...lines].slice(-SHOWN),
          missed: before.missed + missed,
          problem: ''
        }))
      } catch (error) {
        if (!over) setShown(before => ({ ...before, problem: failureText(error) }))
      }
      if (!over) timer = setTimeout(() => void look(), LOG_EVERY)
    }
    void look()
    return () => {
      over = true
      clearTimeout(timer)
    }
  }, [serverId, filter])
  return shown
}
