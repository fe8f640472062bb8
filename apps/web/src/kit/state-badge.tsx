import { IconAlertCircle, IconCircleCheck, IconCircleMinus, IconClock, IconProgress } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import classes from './state-badge.module.css'

export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'off'

const ICONS = {
  good: IconCircleCheck,
  busy: IconProgress,
  wait: IconClock,
  bad: IconAlertCircle,
  off: IconCircleMinus
} satisfies Record<Tone, unknown>

/** The sign of a tone, for where its word stands in larger letters. */
export function ToneIcon({ tone, size }: { tone: Tone; size: number }) {
  const Icon = ICONS[tone]
  return <Icon size={size} aria-hidden />
}

/** A state in a word, in its colour and with a sign for it: who sees no colours tells them apart by that. */
export function StateBadge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={classes.badge} data-tone={tone}>
      <ToneIcon tone={tone} size={14} />
      {children}
    </span>
  )
}

/** A badge with what there is to say of it below. */
export const StateWithDetails = ({ children }: { children: ReactNode }) => (
  <span className={classes.root}>{children}</span>
)
