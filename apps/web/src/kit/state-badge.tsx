import type { ReactNode } from 'react'
import classes from './state-badge.module.css'

export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'off'

/** A state in a word, with a dot in its colour. */
export const StateBadge = ({ tone, children }: { tone: Tone; children: ReactNode }) => (
  <span className={classes.badge} data-tone={tone}>
    {children}
  </span>
)

/** A badge with what there is to say of it below. */
export const StateWithDetails = ({ children }: { children: ReactNode }) => (
  <span className={classes.root}>{children}</span>
)
