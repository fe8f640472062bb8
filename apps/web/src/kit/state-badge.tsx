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

/** A tone's icon, for use beside larger text. */
export function ToneIcon({ tone, size }: { tone: Tone; size: number }) {
  const Icon = ICONS[tone]
  return <Icon size={size} aria-hidden />
}

/** A state as a word with a colour and an icon, so that it is readable without colours. */
export function StateBadge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={classes.badge} data-tone={tone}>
      <ToneIcon tone={tone} size={14} />
      {children}
    </span>
  )
}

export const StateWithDetails = ({ children }: { children: ReactNode }) => (
  <span className="stack start inline" style={{ gap: '0.2rem' }}>
    {children}
  </span>
)
