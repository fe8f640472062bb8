import type { Incident } from '@netlet/contract'
import { INCIDENT_SEVERITIES, INCIDENT_STATES, isEnded, type IncidentSeverity } from '@netlet/contract/status-states'
import { NativeSelect } from '@mantine/core'
import { useT } from '../../i18n/status.ts'
import { StateBadge, type Tone } from '../../kit/state-badge.tsx'
import type { FieldProps } from '../kit/index.ts'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { status } from '../../api/routes.ts'

/** The locations of plans as options; undefined while loading. */
export const useLocations = () =>
  useQuery(read(status.page)).data?.locations.map(({ id, name }) => ({ value: String(id), label: name }))

type Props = { incident: Incident }

const TONES: Record<IncidentSeverity, Tone> = { minor: 'wait', major: 'wait', critical: 'bad', maintenance: 'busy' }

export function SeverityCell({ incident: { severity } }: Props) {
  return useT()(`severity.${severity}`)
}

export function StateCell({ incident: { severity, state } }: Props) {
  const t = useT()
  return <StateBadge tone={isEnded(state) ? 'good' : TONES[severity]}>{t(`state.${state}`)}</StateBadge>
}

const nothing = { value: '', label: '' }

/** Severities and states use the words of the status page. */
export function SeverityInput(props: FieldProps) {
  const t = useT()
  const options = INCIDENT_SEVERITIES.map(value => ({ value, label: t(`severity.${value}`) }))
  return <NativeSelect data={[nothing, ...options]} {...props} />
}

export function StateInput(props: FieldProps) {
  const t = useT()
  const options = INCIDENT_STATES.map(value => ({ value, label: t(`state.${value}`) }))
  return <NativeSelect data={[nothing, ...options]} {...props} />
}
