import type { Cidr } from '@netlet/contract'
import { IconLayoutGrid } from '@tabler/icons-react'
import { inventory } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { numberText } from '../../kit/number.ts'
import { CidrForm } from '../../kit/schemas.ts'
import { askingFilter, code, column, defineResource, idFilter, idsField, integer } from '../kit/index.ts'
import { useRules } from '../rules/use-rules.ts'
import { ServersCell } from '../server-groups/cells.tsx'
import { useServerGroups, useServers } from '../servers/options.ts'
import { CleanUnused } from './clean-unused.tsx'
import { RangeOccupancy } from './occupancy.tsx'
import { RangePlan } from './plan.tsx'
import classes from './ranges.module.css'
import { none } from '../../kit/none.tsx'

/** More deliveries than this; 'none': no deliveries. */
const COUNTS = ['0', '100', '500', '1000']
const UNREFERENCED = 'none'

const toneOf = (count: number) => (count > 1000 ? 'over' : count > 500 ? 'warning' : count > 100 ? 'success' : 'info')

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
        <span className={classes.count} data-tone={toneOf(count)}>
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
