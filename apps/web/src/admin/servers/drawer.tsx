import type { AgentReport, Server } from '@netlet/contract'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { usePollInterval } from '../../api/feed-connected.ts'
import { read } from '../../api/query.ts'
import { fleet } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { bytesText, numberText } from '../../kit/money.ts'
import { useLanguage } from '../../i18n/language.ts'
import { ErrorState } from '../../kit/states.tsx'
import { Ago, momentText } from '../../kit/time.tsx'
import { FactList, type Tools } from '../kit/index.ts'
import { ConnectedCell, HealthCell, StateCell } from './cells.tsx'
import classes from './servers.module.css'
import { partsOf } from './ownership.ts'
import { installs } from './state.ts'
import { InstallSteps } from './steps.tsx'

const HOURS = 48
const HEIGHT = 60

/** Bytes per hour over two days: downloads above, uploads below. */
function Traffic({ hours }: { hours: AgentReport['hours'] }) {
  const t = useT()
  const most = Math.max(1, ...hours.map(({ up, down }) => up + down))
  const total = hours.reduce((sum, { up, down }) => ({ up: sum.up + up, down: sum.down + down }), { up: 0, down: 0 })
  const summary = t('servers.trafficSum', { up: bytesText(total.up), down: bytesText(total.down), hours: hours.length })
  const newest = Date.parse(hours.at(-1)?.at ?? '')
  return (
    <figure className={classes.traffic}>
      {total.up + total.down > 0 && (
        <svg viewBox={`0 0 ${HOURS * 4} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={summary}>
          {hours.map(({ at, up, down }) => {
            // An hour without a health check leaves a gap.
            const x = (HOURS - 1 - Math.round((newest - Date.parse(at)) / 3_600_000)) * 4
            const [whole, part] = [((up + down) / most) * HEIGHT, (up / most) * HEIGHT]
            return (
              <g key={at}>
                <rect x={x} y={HEIGHT - whole} width={3} height={whole} />
                <rect data-up x={x} y={HEIGHT - part} width={3} height={part} />
              </g>
            )
          })}
        </svg>
      )}
      <figcaption className="dim size-table">{summary}</figcaption>
    </figure>
  )
}

/** Milliseconds between polls during an installation. */
const WATCH = 1000

type Props = { id: number; row: Server | undefined; tools: Tools }

/** A server beside the list: health, agent, traffic and installation steps. */
export function ServerDrawer({ id, tools }: Props) {
  const watch = usePollInterval(WATCH)
  const { data, error, refetch } = useQuery({
    ...read(fleet.server, { params: { id } }),
    refetchInterval: query => (query.state.data && installs(query.state.data) ? watch : false)
  })
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={320} />
  return <Facts server={data} tools={tools} />
}

function Facts({ server, tools: { t, detail } }: { server: Server; tools: Tools }) {
  const { agent, users, ranges } = server
  const generation = ({ wanted, confirmed }: { wanted: number; confirmed: number }) =>
    t('servers.generation', { wanted, confirmed })
  return (
    <div className="stack">
      <div className="row" style={{ gap: '0.5rem 1rem' }}>
        <div className={`stack start ${classes.name}`} style={{ gap: 0, marginInlineEnd: 'auto' }}>
          <strong className="strong">{server.name}</strong>
          <span className="mono cut dim size-table">{server.ip}</span>
        </div>
        <Button variant="default" size="sm" onClick={() => detail(server.id)}>
          {t('servers.manage')}
        </Button>
      </div>
      {server.description && <p className="dim size-table">{server.description}</p>}
      <Part title={t('servers.health')}>
        <FactList
          facts={[
            [t('servers.server_status'), <ConnectedCell server={server} />],
            [t('servers.state'), <StateCell server={server} />],
            [t('servers.health'), <HealthCell server={server} />, 'wide'],
            [
              t('servers.usersGeneration'),
              <>
                {generation(users)}
                {users.behind > 0 && (
                  <span className="dim size-table"> {t('servers.behindBy', { count: users.behind })}</span>
                )}
              </>
            ],
            [t('servers.rangesGeneration'), generation(ranges)],
            [t('servers.orders'), numberText(server.orders)],
            [t('servers.leased'), numberText(server.leased)],
            [t('servers.groups'), server.groups.map(({ name }) => name).join(', ') || '–', 'wide']
          ]}
        />
      </Part>
      {server.trouble?.code === 'older_console' && <Plan server={server} t={t} />}
      <Part title={t('servers.agent')}>
        {agent ? (
          <>
            {agent.refused_since && (
              <p className={classes.trouble}>
                {t('servers.reportRefused')} <Ago at={agent.refused_since} />
              </p>
            )}
            <FactList
              facts={[
                [t('servers.version'), <span className="mono">{agent.version}</span>],
                [t('servers.nextVersion'), <NextVersion />],
                [t('servers.workers'), `${agent.workers} (${t(`servers.serves.${agent.status}`)})`],
                [
                  t('servers.uptime'),
                  <Ago at={new Date(Date.parse(agent.at) - agent.uptime_seconds * 1000).toISOString()} />
                ],
                [t('servers.asked'), <Ago at={agent.at} />],
                [t('servers.agentUsers'), agent.users === null ? '–' : numberText(agent.users)],
                [t('servers.open'), agent.connections === null ? '–' : numberText(agent.connections)],
                [
                  t('servers.traffic'),
                  agent.rate
                    ? t('servers.rate', { up: bytesText(agent.rate.up), down: bytesText(agent.rate.down) })
                    : '–'
                ]
              ]}
            />
            {agent.hours.length > 0 && <Traffic hours={agent.hours} />}
          </>
        ) : (
          <p className="dim">{t('servers.noReport')}</p>
        )}
      </Part>
      <Part title={t('servers.certificate')}>
        <Certificate server={server} />
      </Part>
      <Part title={t('servers.host_key')}>
        <HostKey server={server} t={t} />
      </Part>
      <Part title={t('servers.installation')}>
        <InstallSteps server={server} />
      </Part>
    </div>
  )
}

/** The machine's SSH host key as known to the console. */
function HostKey({ server: { host_key }, t }: { server: Server; t: Tools['t'] }) {
  const { known, expected, refused } = host_key
  if (!known && !expected && !refused) return <p className="dim">{t('servers.noHostKey')}</p>
  return (
    <div className={`mono stack start ${classes.fingerprint}`} style={{ gap: 0 }}>
      {known && <span>{t('servers.hostKeyKnown', { fingerprint: known })}</span>}
      {expected && <span>{t('servers.hostKeyExpected', { fingerprint: expected })}</span>}
      {refused && <span className={classes.trouble}>{t('servers.hostKeyRefused', { fingerprint: refused })}</span>}
    </div>
  )
}

/** A plan that awaits approval: each user and range by name. */
function Plan({ server, t }: { server: Server; t: Tools['t'] }) {
  const { data: plan, error, refetch } = useQuery(read(fleet.repairPlan, { params: { id: server.id } }))
  if (error && !plan) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!plan) return null
  return (
    <Part title={t('servers.planParts')}>
      {partsOf(t, plan).map(({ title, names, more }) => (
        <details key={title}>
          <summary>{title}</summary>
          <span className="mono dim size-table">
            {names.join(', ')}
            {more > 0 && `, ${t('servers.planMore', { count: numberText(more) })}`}
          </span>
        </details>
      ))}
    </Part>
  )
}

/** The version this console would install. */
function NextVersion() {
  const { data } = useQuery(read(fleet.agentVersion))
  return <span className="mono">{data?.version ?? '–'}</span>
}

/** The agent's certificate. The console accepts no other. */
function Certificate({ server: { has_certificate: has, certificate } }: { server: Server }) {
  const t = useT()
  const language = useLanguage()
  if (!certificate) return <p className="dim">{t(has ? 'servers.certificateUnread' : 'servers.noCertificate')}</p>
  const end = new Date(certificate.ends_at)
  const over = end.getTime() <= Date.now()
  return (
    <div className={`stack start num unbroken ${classes.figures}`} style={{ gap: 0 }}>
      <span className={`mono ${classes.fingerprint}`}>
        {t('servers.fingerprint', { fingerprint: certificate.fingerprint })}
      </span>
      <span className={over ? classes.trouble : 'dim size-table'}>
        {t(over ? 'servers.certificateEnded' : 'servers.certificateEnds', {
          day: momentText(end, language)
        })}
      </span>
    </div>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="stack" aria-label={title}>
      <h3 className="size-body">{title}</h3>
      {children}
    </section>
  )
}
