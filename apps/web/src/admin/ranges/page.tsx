import type { Cidr, RangeEffect } from '@netlet/contract'
import { IconEraser, IconLayoutGrid } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { read, refresh } from '../../api/query.ts'
import { fleet, inventory } from '../../api/routes.ts'
import { useMay } from '../../api/session.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { none } from '../../kit/none.tsx'
import { notify } from '../../kit/notify.ts'
import { numberText } from '../../kit/money.ts'
import { CidrForm } from '../../kit/schemas.ts'
import {
  type PlanProps,
  type T,
  WorkButton,
  askingFilter,
  code,
  column,
  defineResource,
  figures,
  idFilter,
  idsField,
  integer,
  risky,
  useSettled
} from '../kit/index.ts'
import { useRules } from '../rules/use-rules.ts'
import { ServersCell } from '../server-groups/page.tsx'
import { useServerGroups, useServers } from '../servers/state.ts'
import { RangeOccupancy } from './occupancy.tsx'
import classes from './ranges.module.css'

/** Milliseconds for which the result shows. */
const SHOWN = 10_000
/** The number of ranges named in the result and in the question. */
const NAMED = { result: 5, question: 20 }
/** The specification's text, if the server sends none. */
const FAILED = '清理失败'

/** Removes ranges without a server or lease. */
function CleanUnused() {
  const t = useT()
  // Do not disable the button during the question: the focus could not return to it.
  const [asking, setAsking] = useState(false)
  const [running, setRunning] = useState(false)
  const named = (ranges: readonly { cidr: string }[], count: number, most: number) => {
    const first = ranges.slice(0, most).map(({ cidr }) => cidr)
    const more = count - first.length
    return first.join(', ') + (more > 0 ? ` ${t('ranges.cleanMore', { count: more })}` : '')
  }
  const clean = async () => {
    if (asking || running) return
    setAsking(true)
    try {
      const unused = await call(inventory.unusedCidrs, { query: { include_soft_deleted: 'true' } })
      if (unused.count === 0) return notify('good', t('ranges.cleanNone'), SHOWN)
      const body = t('ranges.cleanBody', {
        count: unused.count,
        list: named(unused.cidrs, unused.count, NAMED.question)
      })
      if (!(await confirm(risky({ title: t('ranges.clean'), body, danger: true }, unused.count)))) return
      setRunning(true)
      const { deleted_count: count, cidr_details: details } = await call(inventory.cleanUnusedCidrs, {
        body: { include_soft_deleted: true, plan: unused.plan }
      })
      const list = named(details, count, NAMED.result)
      notify('good', t('ranges.cleaned', { count, list }), SHOWN)
    } catch (error) {
      notify('bad', failureText(error, FAILED), SHOWN)
    } finally {
      setAsking(false)
      setRunning(false)
      void refresh(inventory.cidrs, fleet.servers)
    }
  }
  if (!useMay().mayCall(inventory.cleanUnusedCidrs)) return null
  return (
    <WorkButton
      variant="default"
      working={running}
      aria-busy={asking}
      leftSection={<IconEraser size={16} aria-hidden />}
      onClick={() => void clean()}
    >
      {t('ranges.clean')}
    </WorkButton>
  )
}

function linesOf(t: T, { sells, excluded, allowed, orders }: RangeEffect): string[] {
  const lines = [
    ...excluded.map(({ name, free, leased, orders: holders }) =>
      leased > 0
        ? t('ranges.effectExcludedLeased', { name, ...figures({ free, leased, orders: holders }) })
        : t('ranges.effectExcluded', { name, ...figures({ free }) })
    ),
    ...allowed.map(({ name, free }) => t('ranges.effectAllowed', { name, ...figures({ free }) }))
  ]
  if (lines.length === 0) return [t('ranges.effectNone')]
  if (orders > 0) lines.push(t('ranges.effectOrders', figures({ orders })))
  if (!sells) lines.push(t('ranges.effectNoServer'))
  return lines
}

/** What a change of excluded rules would do to stock and orders. */
function RangePlan({ values, row }: PlanProps) {
  const t = useT()
  const text = useSettled(values['exclude_acl'] ?? '')
  const exclude_acl = text.split(',').filter(Boolean).map(Number)
  const { data, error } = useQuery({
    ...read(inventory.cidrEffect, { params: { id: row?.id ?? 0 }, body: { exclude_acl } }),
    placeholderData: keepPreviousData,
    staleTime: 0
  })
  return (
    <section className={classes.plan} aria-label={t('ranges.plan')} aria-live="polite">
      <h3 className="size-body">{t('ranges.plan')}</h3>
      {error ? (
        <p>{failureText(error)}</p>
      ) : (
        <ul>{data && linesOf(t, data).map(line => <li key={line}>{line}</li>)}</ul>
      )}
    </section>
  )
}

/** More deliveries than this; 'none': no deliveries. */
const COUNTS = ['0', '100', '500', '1000']
const UNREFERENCED = 'none'

const toneOf = (count: number) => (count > 1000 ? 'over' : count > 500 ? 'warning' : count > 100 ? 'success' : 'info')
const TONES = { over: 'bad', warning: 'warn', success: 'good', info: 'info' } as const

const names = (rows: readonly { name: string }[]) => (rows.length > 0 ? rows.map(({ name }) => name).join(', ') : none)

function useServerOptions() {
  const t = useT()
  return [{ value: UNREFERENCED, label: t('ranges.unreferenced') }, ...useServers()]
}

export default defineResource({
  key: 'ranges',
  list: inventory.cidrs,
  address: ['part', 'rule'],
  also: [inventory.cidrBlocks],
  nameOf: range => range.cidr,
  problem: range => range.delivery_count > 1000,
  toolbar: CleanUnused,
  columns: [
    integer('id'),
    code('cidr', { lead: true }),
    column('exclude_acl', (range: Cidr) => names(range.exclude_acl), { wide: true }),
    column(
      'delivery_count',
      ({ delivery_count: count }: Cidr) => (
        <span className={`strong ${TONES[toneOf(count)]}`} data-tone={toneOf(count)}>
          {numberText(count)}
        </span>
      ),
      { align: 'end' }
    ),
    column('servers', ({ servers }: Cidr) => (servers.length > 0 ? <ServersCell servers={servers} /> : none), {
      wide: true
    }),
    integer('ip_count', { optional: true })
  ],
  sort: ['id', 'cidr', 'delivery_count'],
  filters: [
    askingFilter({
      key: 'delivery_count',
      useOptions: () => {
        const t = useT()
        return COUNTS.map(value => ({ value, label: value === '0' ? '=0' : t('ranges.over', { count: value }) }))
      },
      accepts: value => COUNTS.includes(value),
      asks: value => (value === '0' ? { delivery_count_exact: value } : { delivery_count_min: value })
    }),
    idFilter('exclude_acl', () => useRules() ?? []),
    idFilter('sold_with', () => useRules() ?? []),
    idFilter('group_id', useServerGroups),
    askingFilter({
      key: 'server',
      useOptions: useServerOptions,
      accepts: value => value === UNREFERENCED || /^[1-9]\d{0,14}$/.test(value),
      asks: value => (value === UNREFERENCED ? { unreferenced: '1' } : { server_id: value })
    })
  ],
  form: {
    schema: CidrForm,
    fields: [{ ...idsField('exclude_acl', { useOptions: useRules }), optional: true }],
    update: inventory.updateCidr,
    undo: true,
    plan: RangePlan
  },
  rowActions: [{ name: 'occupancy', icon: IconLayoutGrid, run: (range, tools) => tools.detail(range.id) }],
  detail: RangeOccupancy,
  csv: true
})
