import { Button } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useT } from '../i18n/index.ts'
import { failureText } from '../i18n/failures.ts'
import { BlockArt } from './block-art.tsx'
import classes from './states.module.css'

type Empty = {
  title: string
  body?: string
  /** Without the picture, for a part of a page. */
  compact?: boolean
  children?: ReactNode
}

/** Says that there is nothing, why, and what to do. */
export function EmptyState({ title, body, compact = false, children }: Empty) {
  return (
    <div className={classes.state} data-compact={compact || undefined}>
      {!compact && <BlockArt seed={title} cols={9} rows={3} className={classes.art} density={0.12} />}
      <p className={classes.title}>{title}</p>
      {body && <p className={classes.body}>{body}</p>}
      {children && <div style={{ marginTop: '1.25rem' }}>{children}</div>}
    </div>
  )
}

/** Says what failed, with a button to retry. */
export function ErrorState({ error, fallback, onRetry }: { error: unknown; fallback?: string; onRetry?: () => void }) {
  const t = useT()
  return (
    <div className={classes.state} role="alert">
      <IconAlertCircle className={classes.sign} size={24} aria-hidden />
      <p className={classes.title}>{failureText(error, fallback)}</p>
      {onRetry && (
        <div style={{ marginTop: '1.25rem' }}>
          <Button variant="default" onClick={onRetry}>
            {t('retry')}
          </Button>
        </div>
      )}
    </div>
  )
}
