import type { OutageEntry } from '@netlet/contract'
import { INCIDENT_SEVERITIES, INCIDENT_STATES } from '@netlet/contract/status-states'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { status } from '../../api/routes.ts'
import { t } from '../../i18n/admin.ts'
import { SeverityInput, StateInput } from '../incidents/cells.tsx'
import { useLocations } from '../incidents/use-locations.ts'
import { areaField, choiceField, idsField, instantField, optional, textField, type Field } from '../kit/index.ts'

const outageOf = (row: Record<string, unknown>) => row as unknown as OutageEntry

/** An incident prefilled from the outage. It can be edited before it is published. */
export const proposedFields: readonly Field[] = [
  {
    ...textField('title'),
    shown: (_value, row) =>
      t('outages.proposedTitle', {
        locations: (outageOf(row).locations ?? []).map(({ name }) => name).join(', ')
      })
  },
  { ...choiceField('severity', INCIDENT_SEVERITIES, ''), Input: SeverityInput, shown: () => 'major' },
  idsField('locations', { useOptions: useLocations }),
  optional(instantField('started_at')),
  {
    ...choiceField('state', INCIDENT_STATES, ''),
    Input: StateInput,
    shown: (_value, row) => (outageOf(row).ended_at ? 'resolved' : 'investigating')
  },
  { ...optional(areaField('text', { shown: () => '' })), help: say => say('incidents.textHelp') }
]

/** The number of recent incidents to choose from. */
const NEWEST = 100

export const useIncidents = () =>
  (useQuery(read(status.incidents, { query: { limit: NEWEST } })).data?.data ?? []).map(({ id, title }) => ({
    value: String(id),
    label: title
  }))
