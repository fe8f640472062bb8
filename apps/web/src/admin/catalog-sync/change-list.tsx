import type { SyncChange } from '@netlet/contract'
import { useT } from '../../i18n/admin.ts'
import classes from './sync.module.css'

const VISIBILITIES = ['internal', 'unlisted', 'shown'] as const
const isVisibility = (value: string): value is (typeof VISIBILITIES)[number] => VISIBILITIES.some(one => one === value)

export function ChangeList({ changes, label }: { changes: readonly SyncChange[]; label: string }) {
  const t = useT()
  const shown = (field: SyncChange['fields'][number]['field'], value: string): string => {
    if (field === 'visibility' && isVisibility(value)) return t(`sync.visibility.${value}`)
    return value || '–'
  }
  if (changes.length === 0) return null
  return (
    <ul className={classes.changes} aria-label={label} tabIndex={0}>
      {changes.map(({ kind, name, fields }, at) => (
        <li key={at} data-kind={kind}>
          <strong>{t(`sync.kind.${kind}`)}</strong>
          <span>{name}</span>
          {fields.map(({ field, was, is }) => (
            <small key={field}>
              {t('form.staleField', { field: t(`sync.field.${field}`), was: shown(field, was), is: shown(field, is) })}
            </small>
          ))}
        </li>
      ))}
    </ul>
  )
}
