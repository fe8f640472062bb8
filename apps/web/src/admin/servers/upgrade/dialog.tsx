import { Button, NativeSelect, Skeleton } from '@mantine/core'
import type { UpgradePlan } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { parseAsString, useQueryState } from 'nuqs'
import { useState } from 'react'
import { call } from '../../../api/client.ts'
import { fleet } from '../../../api/routes.ts'
import { useMay } from '../../../api/session.ts'
import { useT } from '../../../i18n/admin.ts'
import { Dialog } from '../../../kit/dialog.tsx'
import { numberText } from '../../../kit/money.ts'
import { StateBadge } from '../../../kit/state-badge.tsx'
import { EmptyState, ErrorState } from '../../../kit/states.tsx'
import { type Selected, WorkButton, useCommand } from '../../kit/index.ts'
import { reasonText } from './panel.tsx'
import classes from './upgrade.module.css'

/** Asks which server to upgrade first, and shows which are left out. */
export function UpgradeDialog() {
  const t = useT()
  const [text, setText] = useQueryState('upgrade', parseAsString.withOptions({ history: 'push' }))
  const chosen = chosenOf(text)
  const close = () => void setText(null)
  if (!useMay().mayCall(fleet.startUpgrade)) return null
  return (
    <Dialog opened={chosen !== null} onClose={close} title={t('upgrade.title')} size="lg">
      {chosen && <Plan chosen={chosen} onClose={close} />}
    </Dialog>
  )
}

function Plan({ chosen, onClose }: { chosen: Chosen; onClose: () => void }) {
  // Fetch it on each opening, because servers change constantly.
  const { data, error, refetch } = useQuery({
    queryKey: ['plan-upgrade', chosen],
    queryFn: () => call(fleet.planUpgrade, { body: { selection: chosen } }),
    gcTime: 0,
    staleTime: Infinity
  })
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={160} />
  return <PlannedUpgrade plan={data} onClose={onClose} />
}

function PlannedUpgrade({ plan, onClose }: { plan: UpgradePlan; onClose: () => void }) {
  const t = useT()
  const { version, servers, left_out: left, is_free: isFree } = plan
  const [first, setFirst] = useState(String(servers[0]?.id ?? ''))
  const start = useCommand(fleet.startUpgrade, {
    success: t('upgrade.begun'),
    invalidate: [fleet.upgrades, fleet.servers]
  })
  const body = { ids: servers.map(({ id }) => id), first_id: Number(first), version }
  const begin = async () => {
    if (await start.run({ body })) onClose()
  }
  return (
    <div className="stack">
      {servers.length === 0 ? (
        <EmptyState title={t('upgrade.none')} body={t('upgrade.noneHint', { version })} compact />
      ) : (
        <>
          <p>{t('upgrade.plan', { count: numberText(servers.length), version })}</p>
          <NativeSelect
            label={t('upgrade.first')}
            description={t('upgrade.firstHelp')}
            value={first}
            onChange={event => setFirst(event.currentTarget.value)}
            data={servers.map(({ id, name, version: from, orders }) => ({
              value: String(id),
              label: t('upgrade.option', { name, version: from ?? '–', orders: numberText(orders) })
            }))}
          />
          <p className="dim">{t('upgrade.order')}</p>
          <Effects servers={servers} />
        </>
      )}
      {left.length > 0 && (
        <details open={servers.length === 0 || undefined}>
          <summary>{t('upgrade.leftOut', { count: numberText(left.length) })}</summary>
          <ul className={classes.rows} aria-label={t('upgrade.leftOut', { count: numberText(left.length) })}>
            {left.map(row => (
              <li key={row.id} className="row baseline" style={{ gap: '0.2rem 0.7rem' }}>
                <strong>{row.name}</strong>
                <span className="dim">{reasonText(row)}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      {!isFree && (
        <p role="alert" className="breaks bad">
          {t('upgrade.busy')}
        </p>
      )}
      <div className="row to-end" style={{ gap: '0.6rem' }}>
        <Button variant="default" onClick={onClose}>
          {t('form.cancel')}
        </Button>
        {servers.length > 0 && isFree && (
          <WorkButton working={start.running} onClick={() => void begin()}>
            {t('upgrade.start')}
          </WorkButton>
        )}
      </div>
    </div>
  )
}

type Planned = UpgradePlan['servers'][number]
const EFFECTS = ['hands_over', 'restarts', 'unknown'] as const

/** What happens to open tunnels: which servers hand over, which restart. */
function Effects({ servers }: { servers: readonly Planned[] }) {
  const t = useT()
  const by = Map.groupBy(servers, ({ effect }) => effect)
  const figuresOf = (some: readonly Planned[]) => ({
    servers: numberText(some.length),
    count: connectionsOf(some)
  })
  return (
    <div>
      {EFFECTS.flatMap(effect => {
        const some = by.get(effect)
        if (!some) return []
        const text = t(`upgrade.effect.${effect}`, figuresOf(some))
        return [
          <p key={effect} className={effect === 'hands_over' ? 'dim' : 'breaks bad'}>
            {text}
          </p>
        ]
      })}
      <details open={servers.length <= FEW || undefined}>
        <summary>{t('upgrade.tunnels')}</summary>
        <ul className={classes.rows} aria-label={t('upgrade.tunnels')}>
          {servers.map(one => (
            <li key={one.id}>
              <strong>{one.name}</strong>
              <StateBadge tone={TONES[one.effect]}>{t(`upgrade.does.${one.effect}`)}</StateBadge>
              <span className="dim">{t('upgrade.connections', { count: connectionsOf([one]) })}</span>
            </li>
          ))}
        </ul>
      </details>
    </div>
  )
}

/** The number of servers shown at first. */
const FEW = 5
const TONES = { hands_over: 'good', restarts: 'bad', unknown: 'wait' } as const

/** Open connections at the last health check; '?' if an agent reported none. */
const connectionsOf = (servers: readonly Planned[]): string =>
  servers.some(({ connections }) => connections === null)
    ? '?'
    : numberText(servers.reduce((sum, { connections }) => sum + (connections ?? 0), 0))

/** The servers to upgrade, from the address: ids, or the query of all matching rows. */
type Chosen = { ids: number[] } | { query: Record<string, string> }

export const chosenText = (selected: Selected): string =>
  JSON.stringify('ids' in selected ? { ids: selected.ids } : { query: selected.query })

/** Parses the address; null if it is invalid. The server checks the rest. */
function chosenOf(text: string | null): Chosen | null {
  if (!text) return null
  try {
    const { ids, query } = JSON.parse(text) as { ids?: unknown; query?: unknown }
    if (Array.isArray(ids) && ids.every(id => Number.isInteger(id))) return { ids: ids as number[] }
    const isQuery =
      typeof query === 'object' && query !== null && Object.values(query).every(one => typeof one === 'string')
    return isQuery ? { query: query as Record<string, string> } : null
  } catch {
    return null
  }
}
