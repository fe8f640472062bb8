import { Checkbox, Textarea, TextInput } from '@mantine/core'
import { useId, useState } from 'react'
import { useT } from '../../i18n/admin.ts'
import classes from './kit.module.css'
import type { Field, FieldProps, Option } from './resource.ts'

/** A text of several lines. `shown` computes it if the row has no field of this name. */
export const areaField = <const N extends string>(
  name: N,
  { shown, mono = false, rows = 6 }: Pick<Field, 'shown'> & { rows?: number; mono?: boolean } = {}
): Field<N> => ({
  name,
  ...(shown ? { shown } : {}),
  Input: (props: FieldProps) => (
    <Textarea
      autoComplete="off"
      rows={rows}
      resize="vertical"
      {...(mono ? { spellCheck: false, classNames: { input: 'mono' } } : {})}
      {...props}
    />
  )
})

/** What to tell the customer of a change: words, and whether to email them. */
export const noteFields: readonly [Field<'message'>, Field<'email_customer'>] = [
  { ...areaField('message', { rows: 3 }), optional: true, shown: () => '', help: t => t('note.hint') },
  {
    name: 'email_customer',
    optional: true,
    Input: function Email({ value, onChange, withAsterisk: _required, ...props }: FieldProps) {
      const set = onChange as (value: string) => void
      return (
        <Checkbox {...props} checked={value === '1'} onChange={event => set(event.currentTarget.checked ? '1' : '')} />
      )
    },
    shown: () => '1',
    sent: value => value === '1'
  }
]

/** A value without an input of its own, set by the form's plan. */
export const hiddenField = <const N extends string>(
  name: N,
  { sent }: { sent: NonNullable<Field['sent']> }
): Field<N> => ({
  name,
  optional: true,
  Input: () => null,
  sent
})

type Named = { id: number; name: string }
const isNamed = (value: unknown): value is Named[] => Array.isArray(value)

/** Any number of a call's results, sent as ids. A row holds them with ids and names. */
export const idsField = <const N extends string>(
  name: N,
  { useOptions }: { useOptions: () => readonly Option[] | undefined }
): Field<N> => ({
  name,
  Input: props => <Picker {...(props as PickerProps)} useOptions={useOptions} />,
  shown: value => (isNamed(value) ? value.map(({ id }) => id).join(',') : ''),
  sent: value => value.split(',').filter(Boolean).map(Number),
  useDescription: () => {
    const options = useOptions()
    const nameOf = (id: string) => options?.find(({ value }) => value === id)?.label ?? id
    return value => value.split(',').filter(Boolean).map(nameOf).join(', ')
  }
})

type PickerProps = FieldProps & {
  value: string
  onChange: (value: string) => void
  error?: string
  description?: string
  useOptions: () => readonly Option[] | undefined
}

/** Checkboxes with a search. Ticked ones come first when the list opens. */
function Picker({ label, withAsterisk, value, onChange, error, description, useOptions, ...input }: PickerProps) {
  const t = useT()
  const id = useId()
  const options = useOptions()
  const [search, setSearch] = useState('')
  const chosen = new Set(value.split(',').filter(Boolean))
  const [first] = useState(chosen)
  const found = (options ?? [])
    .filter(option => option.label.toLowerCase().includes(search.trim().toLowerCase()))
    .toSorted((a, b) => Number(first.has(b.value)) - Number(first.has(a.value)))
  const toggle = (one: string, on: boolean) => {
    const next = new Set(chosen)
    if (on) next.add(one)
    else next.delete(one)
    onChange([...next].join(','))
  }
  return (
    <fieldset className={`size-body ${classes.picker}`} aria-describedby={error ? `${id}-error` : undefined}>
      <legend className="strong" style={{ marginBottom: '0.25rem' }}>
        {label}
        {withAsterisk && (
          <span aria-hidden style={{ color: 'var(--mantine-color-error)' }}>
            {' '}
            *
          </span>
        )}
        <span className="dim num"> {t('list.selected', { count: chosen.size })}</span>
      </legend>
      {description && <p className="dim">{description}</p>}
      <TextInput
        type="search"
        aria-label={`${label}: ${t('list.search')}`}
        aria-invalid={error ? true : undefined}
        placeholder={t('list.search')}
        value={search}
        onChange={event => setSearch(event.currentTarget.value)}
        onKeyDown={event => {
          // Enter must not submit the form.
          if (event.key === 'Enter') event.preventDefault()
        }}
        data-path={input['data-path']}
        data-autofocus={input['data-autofocus']}
      />
      <ul tabIndex={-1}>
        {found.map(option => (
          <li key={option.value} className="row unwrapped" style={{ minHeight: '1.75rem' }}>
            <Checkbox
              size="sm"
              label={option.label}
              checked={chosen.has(option.value)}
              onChange={event => toggle(option.value, event.currentTarget.checked)}
            />
          </li>
        ))}
        {options && found.length === 0 && <li className="dim">{t('list.nothing')}</li>}
      </ul>
      {error && (
        <p id={`${id}-error`} className="bad size-label" style={{ marginTop: '0.3rem' }}>
          {error}
        </p>
      )}
    </fieldset>
  )
}
