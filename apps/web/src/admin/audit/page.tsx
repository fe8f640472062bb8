import { IconEye } from '@tabler/icons-react'
import type { AuditEntry, Resource } from '@netlet/contract'
import { settings } from '../../api/routes.ts'
import { Moment } from '../../kit/time.tsx'
import { code, column, dayFilter, defineResource, integer, oneOf, textFilter } from '../kit/index.ts'
import { Action, Actor, Changes, TARGETS, Target } from './cells.tsx'
import { EntryDrawer } from './drawer.tsx'

/** Who changed what, when and from where. Entries are immutable. */
export default defineResource({
  key: 'audit',
  list: settings.audit,
  nameOf: entry => `${entry.action} ${entry.target_name ?? entry.target_id}`,
  columns: [
    integer('id', { optional: true }),
    column('at', (row: AuditEntry) => <Moment at={row.at} />),
    column('actor', (row: AuditEntry) => <Actor entry={row} />),
    column('action', (row: AuditEntry) => <Action entry={row} />, { lead: true }),
    column('target', (row: AuditEntry) => <Target entry={row} />),
    column('changes', (row: AuditEntry) => <Changes entry={row} />, { wide: true }),
    code('ip')
  ],
  sort: ['id'],
  filters: [
    textFilter('actor'),
    oneOf('target_type', Object.keys(TARGETS) as Resource[], 'audit.of'),
    textFilter('target_id'),
    textFilter('verb'),
    oneOf('kind', ['security', 'reads'], 'audit.kind'),
    dayFilter('from'),
    dayFilter('until')
  ],
  rowActions: [{ name: 'view', icon: IconEye, run: (row, tools) => tools.show(row.id) }],
  drawer: EntryDrawer,
  csv: true
})
