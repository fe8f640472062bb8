import type { Server } from '@netlet/contract'
import { isFromSources } from '@netlet/contract/agent-version'
import { pageAt } from '@netlet/contract/pages'
import { Button } from '@mantine/core'
import { parseAsInteger, useQueryState } from 'nuqs'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { fleet } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { bytesText, numberText } from '../../kit/money.ts'
import { CopyButton } from '../../kit/copy-button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { StateBadge, StateWithDetails } from '../../kit/state-badge.tsx'
import { Ago } from '../../kit/time.tsx'
import classes from './servers.module.css'
import { installs, problemTexts, stateOf, troubleText } from './state.ts'
import { none } from '../../kit/none.tsx'

/** The number of ranges in a row. A dialog shows all. */
const SHOWN_RANGES = 5

type Props = { server: Server }

/** The range's page with its leases by rule. */
const occupancyOf = (id: number) => `${pageAt('CIDRManage')}?detail=${id}`

export const NameCell = ({ server }: Props) => (
  <div className={`stack start ${classes.name}`} style={{ gap: 0 }}>
    <strong className="strong">{server.name}</strong>
    <span className="mono cut dim size-table">{server.ip}</span>
    {server.description && (
      <span className="cut dim size-table" title={server.description}>
        {server.description}
      </span>
    )}
  </div>
)

/** Connected according to the last health check. */
export function ConnectedCell({ server }: Props) {
  const t = useT()
  const connected = server.server_status === 1
  return (
    <StateBadge tone={connected ? 'good' : server.status === 'given_up' ? 'off' : 'bad'}>
      {t(connected ? 'servers.yes' : 'servers.no')}
    </StateBadge>
  )
}

export function StateCell({ server }: Props) {
  const t = useT()
  const { key, tone } = stateOf(server)
  return (
    <span className={classes.state}>
      <StateBadge tone={tone}>{t(key)}</StateBadge>
    </span>
  )
}

/** Whether the agent is up to date; if not, why and since when. */
export function HealthCell({ server }: Props) {
  const t = useT()
  // Before the installation nothing answers, which is no problem.
  const installing = installs(server)
  const trouble = installing ? null : troubleText(t, server)
  const since = installing ? null : (server.unreachable_since ?? server.failing_since)
  const { provisioning, refused_ranges: refused, users } = server
  const problems = installing || server.status === 'given_up' ? [] : problemTexts(t, server)
  const behind = users.behind > 0 ? t('servers.behindBy', { count: users.behind }) : t('servers.behind')
  return (
    <StateWithDetails>
      {installing ? (
        <StateBadge tone="busy">
          {t('servers.installs', { step: t(`servers.step.${provisioning?.step ?? 'waiting'}`) })}
        </StateBadge>
      ) : provisioning?.status === 'failed' ? (
        <StateBadge tone="bad">{t('servers.installFailed')}</StateBadge>
      ) : trouble || since || problems.length > 0 ? (
        <StateBadge tone={server.status === 'given_up' ? 'off' : 'bad'}>{t('servers.troubled')}</StateBadge>
      ) : server.step === 'behind' ? (
        <StateBadge tone="busy">{behind}</StateBadge>
      ) : (
        <StateBadge tone={server.server_status === 1 ? 'good' : 'off'}>
          {t(server.server_status === 1 ? 'servers.inStep' : 'servers.unknown')}
        </StateBadge>
      )}
      {trouble && (
        <span className={classes.trouble} title={trouble}>
          {trouble}
        </span>
      )}
      {since && (
        <span className="dim size-table">
          {t('servers.since')} <Ago at={since} />
        </span>
      )}
      {problems.length > 0 && <span className={classes.trouble}>{problems.join(', ')}</span>}
      {refused.length > 0 && (
        <span className={classes.trouble}>{t('servers.refused', { ranges: refused.join(', ') })}</span>
      )}
    </StateWithDetails>
  )
}

/** The first ranges, and all of them in a dialog opened by the address. */
export function RangesCell({ server }: Props) {
  const t = useT()
  const [open, setOpen] = useQueryState('ranges', parseAsInteger.withOptions({ history: 'push' }))
  const { cidrs, refused_ranges: refused } = server
  const more = cidrs.length - SHOWN_RANGES
  return (
    <>
      <ul className={classes.ranges} aria-label={t('servers.cidrs')}>
        {cidrs.slice(0, SHOWN_RANGES).map(({ id, cidr }) => (
          <li key={id} data-refused={refused.includes(cidr) || undefined}>
            <Link className="plain" to={occupancyOf(id)}>
              {cidr}
            </Link>
          </li>
        ))}
        {more > 0 && (
          <li className={classes.more}>
            <Button
              size="compact-xs"
              variant="default"
              aria-label={t('servers.moreOf', { count: more, name: server.name })}
              onClick={() => void setOpen(server.id)}
            >
              {t('servers.more', { count: more })}
            </Button>
          </li>
        )}
      </ul>
      <Dialog
        opened={open === server.id}
        row={server.id}
        onClose={() => void setOpen(null)}
        title={t('servers.rangesOf', { name: server.name, count: cidrs.length })}
        size="lg"
      >
        <div className="stack">
          <ul className={classes.ranges} aria-label={t('servers.allRanges')}>
            {cidrs.map(({ id, cidr, ip_count }) => (
              <li key={id} data-refused={refused.includes(cidr) || undefined}>
                <Link className="plain" to={occupancyOf(id)}>
                  {cidr}
                </Link>{' '}
                <span className="dim">{numberText(ip_count)}</span>
              </li>
            ))}
          </ul>
          <div>
            <CopyButton text={cidrs.map(({ cidr }) => cidr).join('\n')} variant="default" size="sm" />
          </div>
        </div>
      </Dialog>
    </>
  )
}

/** Orders and addresses in use, and the total of addresses. */
export function UseCell({ server }: Props) {
  const t = useT()
  const all = server.cidrs.reduce((sum, { ip_count }) => sum + ip_count, 0)
  return (
    <div className={`stack start num unbroken ${classes.figures}`} style={{ gap: 0 }}>
      <span>{t('servers.useOrders', { count: server.orders })}</span>
      <span className="dim size-table">
        {t('servers.useAddresses', { leased: numberText(server.leased), all: numberText(all) })}
      </span>
    </div>
  )
}

/** Whether the agent's version differs from the one this console installs. */
function useIsOlder({ agent }: Server): boolean {
  const { data } = useQuery(read(fleet.agentVersion))
  return Boolean(agent && data && agent.version !== data.version && !isFromSources(agent.version))
}

export function AgentCell({ server }: Props) {
  const t = useT()
  const older = useIsOlder(server)
  const { agent } = server
  if (!agent) return none
  return (
    <div className={`stack start num unbroken ${classes.figures}`} style={{ gap: 0 }}>
      <span className="mono">{agent.version}</span>
      {older && <StateBadge tone="wait">{t('servers.older')}</StateBadge>}
      <span className="dim size-table">
        {agent.connections === null
          ? t('servers.tellsNothing')
          : t('servers.connections', { count: numberText(agent.connections) })}
      </span>
      {agent.rate && (
        <span className="dim size-table">
          {t('servers.rate', { up: bytesText(agent.rate.up), down: bytesText(agent.rate.down) })}
        </span>
      )}
    </div>
  )
}
