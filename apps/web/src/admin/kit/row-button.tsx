import classes from './kit.module.css'
import type { Icon } from './resource.ts'

type Props = {
  /** What it does. */
  label: string
  /** The row that it does it to. */
  name: string
  icon: Icon
  busy: boolean
  danger?: boolean
  /** The label shows when it is pointed at. */
  titled?: boolean
  onClick: () => void
}

/**
 * A row's button that is a picture alone: the browser's own, as a list has hundreds of them. What else it is given, as by
 * `WithReason`, is the button's.
 */
export function RowButton({ label, name, icon: Sign, busy, danger = false, titled = true, ...rest }: Props) {
  return (
    <button
      type="button"
      className={classes.rowButton}
      data-danger={danger || undefined}
      aria-label={`${label}: ${name}`}
      title={titled ? label : undefined}
      aria-busy={busy}
      {...rest}
    >
      <Sign size={17} aria-hidden />
    </button>
  )
}
