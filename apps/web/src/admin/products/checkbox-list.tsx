import { Checkbox } from '@mantine/core'
import { useT } from '../../i18n/admin.ts'
import { gridStyle } from '../../kit/grid-style.ts'
import classes from './products.module.css'

type Props = {
  label: string
  /** Undefined while loading. */
  options: readonly { id: number; name: string }[] | undefined
  chosen: readonly number[]
  onChange: (chosen: number[]) => void
}

export function CheckboxList({ label, options, chosen, onChange }: Props) {
  const t = useT()
  return (
    <fieldset>
      <legend className="strong size-body" style={{ marginBottom: '0.25rem' }}>
        {label}
      </legend>
      <div
        className={classes.choices}
        style={gridStyle('9rem', '0.5rem 0.75rem')}
        tabIndex={0}
        role="group"
        aria-label={label}
      >
        {options?.length === 0 && <span className="dim">{t('products.noneThere')}</span>}
        {options?.map(({ id, name }) => (
          <Checkbox
            key={id}
            size="sm"
            label={name}
            checked={chosen.includes(id)}
            onChange={event =>
              onChange(
                event.currentTarget.checked
                  ? [...chosen, id].toSorted((one, other) => one - other)
                  : chosen.filter(one => one !== id)
              )
            }
          />
        ))}
      </div>
    </fieldset>
  )
}

/** The chosen names, read-only; `hint` says where they are edited. */
export function Chosen({ label, hint, names }: { label: string; hint: string; names: readonly string[] }) {
  return (
    <section aria-label={label}>
      <h4>{label}</h4>
      <p className="dim size-table" style={{ marginBottom: '0.25rem' }}>
        {hint}
      </p>
      <p>{names.length > 0 ? names.join(', ') : '–'}</p>
    </section>
  )
}
