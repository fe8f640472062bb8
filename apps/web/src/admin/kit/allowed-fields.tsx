import { useId, type ReactNode } from 'react'
import { useT } from '../../i18n/admin.ts'
import classes from './allowed-fields.module.css'

type Props = { allowed: boolean; className?: string | undefined; children: ReactNode }

/** The fields of a form. A role that may not change them sees them disabled, with a note. */
export function AllowedFields({ allowed, className, children }: Props) {
  const t = useT()
  const why = useId()
  return (
    <fieldset
      disabled={!allowed}
      aria-describedby={allowed ? undefined : why}
      className={`${classes.fields} ${className ?? ''}`}
    >
      {!allowed && (
        <p id={why} className="dim">
          {t('form.notAllowed')}
        </p>
      )}
      {children}
    </fieldset>
  )
}
