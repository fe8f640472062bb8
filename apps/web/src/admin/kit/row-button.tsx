import classes from './kit.module.css'
import type { Icon } from './resource.ts'

type Props = {
  label: string
  /** The row it applies to. */
  name: string
  icon: Icon
  busy: boolean
  danger?: boolean
  /** Shows the label on hover. */
  titled?: boolean
  onClick: () => void
}

/** A row's icon button, native because a list has hundreds. Other props, as from `UnavailableHint`, go to it. */
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
