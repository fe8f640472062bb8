import { NativeSelect, Switch, TextInput, type TextInputProps } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import { type Key, useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { PasswordInput } from '../../kit/new-password-input.tsx'
import { zoneText } from '../../kit/time.tsx'
import classes from './allowed-fields.module.css'
import type { Field, FieldProps, Option, TranslatedField } from './resource.ts'

// Each function makes a field whose name must be in the form's schema. The schema parses what is typed.

const plain = (more: object) =>
  function Plain(props: FieldProps) {
    return <TextInput autoComplete="off" {...more} {...props} />
  }

export const textField = <const N extends string>(name: N, { mono = false } = {}): Field<N> => ({
  name,
  Input: plain(mono ? { spellCheck: false, classNames: { input: 'mono' } } : {})
})

/** A secret. It can be written but never shown; empty means unchanged. */
export const secretField = <const N extends string>(name: N): Field<N> => ({
  name,
  optional: true,
  secret: true,
  Input: function Secret(props: FieldProps) {
    // Stops the browser from filling in the operator's own password. Mantine does not set `aria-invalid` on this field.
    const t = useT()
    return (
      <PasswordInput
        autoComplete="new-password"
        aria-invalid={props.error ? true : undefined}
        visibilityToggleButtonProps={{ 'aria-label': t('users.showPassword') }}
        {...props}
      />
    )
  },
  shown: () => ''
})

/** On or off, sent as 1 or 0. Off if the row has no value. */
export const switchField = <const N extends string>(name: N): Field<N> => ({
  name,
  optional: true,
  Input: function OnOff({ value, onChange, withAsterisk: _required, ...props }: FieldProps) {
    const set = onChange as (value: string) => void
    return (
      <Switch {...props} checked={value === '1'} onChange={event => set(event.currentTarget.checked ? '1' : '0')} />
    )
  },
  shown: value => (value === true || value === 1 ? '1' : '0'),
  useDescription: () => {
    const t = useT()
    return value => t(value === '1' ? 'list.yes' : 'list.no')
  },
  sent: value => (value === '1' ? 1 : 0)
})

export const moneyField = <const N extends string>(name: N): Field<N> => ({
  name,
  Input: plain({ inputMode: 'decimal', leftSection: '$' })
})

/** A code's discount: an amount, or a percentage if the field `type` says percent. */
export const discountField = <const N extends string>(name: N, type: string): Field<N> => ({
  name,
  Input: plain({ inputMode: 'decimal' }),
  unit: values => (values[type] === 'percent' ? { rightSection: '%' } : { leftSection: '$' })
})

export const integerField = <const N extends string>(name: N): Field<N> => ({
  name,
  Input: plain({ inputMode: 'numeric' })
})

/** One of several values, none preselected. `words` is the prefix of their names, as in the filter `oneOf`. */
export const choiceField = <const N extends string>(name: N, values: readonly string[], words: string): Field<N> => ({
  name,
  Input: function Choice(props: FieldProps) {
    const t = useT()
    const options = values.map(value => ({ value, label: t(`${words}.${value}` as Key) }))
    return <NativeSelect data={[{ value: '', label: '', disabled: true }, ...options]} {...props} />
  },
  useDescription: () => {
    const t = useT()
    return value => (value === '' ? '' : t(`${words}.${value}` as Key))
  }
})

/** An optional number. The placeholder shows the default. */
export const numberField = <const N extends string>(name: N, { standard }: { standard: number }): Field<N> => ({
  name,
  Input: plain({ inputMode: 'numeric' }),
  placeholder: () => String(standard),
  sent: value => (value.trim() === '' ? undefined : value)
})

/** The id of one of a call's results, or none: `useNone` says what none means. */
export const idField = <const N extends string>(
  name: N,
  { useOptions, useNone }: { useOptions: () => readonly Option[]; useNone: () => string }
): Field<N> => ({
  name,
  optional: true,
  Input: function Choice(props: FieldProps) {
    const none = { value: '', label: useNone() }
    return <NativeSelect data={[none, ...useOptions()]} {...props} />
  },
  shown: () => '',
  sent: value => (value === '' ? undefined : Number(value))
})

/** The same field, optional. */
export const optional = <const N extends string>(field: Field<N>): Field<N> => ({ ...field, optional: true })

/** The Chinese text of another field. If empty, visitors see that field's text. */
export const inChinese = <const N extends string>(text: string, field: Field<N>): TranslatedField<N> => ({
  ...field,
  name: 'translations',
  optional: true,
  translates: { language: 'zh-CN', text, like: field.name }
})

/** The input's precision. */
const toMinute = (value: unknown) => localTime(value, 'minute')

/** An instant in the user's time zone, sent as a Unix timestamp in milliseconds. */
export const timeField = <const N extends string>(name: N): Field<N> => ({
  name,
  Input: function Time({ value, ...props }: FieldProps) {
    return <TimeInput precision="minute" value={typeof value === 'string' ? value : ''} {...props} />
  },
  shown: toMinute,
  sent: (value, row) => {
    // An unchanged value keeps its seconds.
    const at = new Date(value !== '' && value === toMinute(row[name]) ? String(row[name]) : value).getTime()
    // Send '' for an invalid date, so that the schema reports it missing.
    return Number.isNaN(at) ? '' : at
  }
})

/** The same, sent as ISO 8601. */
export const instantField = <const N extends string>(name: N): Field<N> => ({
  ...timeField(name),
  sent: value => instantOf(value) ?? ''
})

const two = (value: number) => String(value).padStart(2, '0')

/** An instant as the value of a datetime-local input, to the minute or second; '' for none. */
export function localTime(instant: unknown, precision: 'minute' | 'second'): string {
  const at = new Date(typeof instant === 'string' ? instant : '')
  if (Number.isNaN(at.getTime())) return ''
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  const minute = `${day}T${two(at.getHours())}:${two(at.getMinutes())}`
  return precision === 'minute' ? minute : `${minute}:${two(at.getSeconds())}`
}

/** The input's value as ISO 8601; null if it has none. */
export function instantOf(local: string): string | null {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? null : at.toISOString()
}

type Props = Omit<TextInputProps, 'type' | 'value'> & { value: string; precision: 'minute' | 'second' }

/** An instant in the user's time zone. The zone is shown with its offset at that instant, because of summer time. */
export function TimeInput({ precision, description, value, ...props }: Props) {
  const t = useT()
  const language = useLanguage()
  const entered = new Date(value)
  const at = Number.isNaN(entered.getTime()) ? new Date() : entered
  const zone = t('form.zone', { zone: zoneText(at, language) })
  return (
    <TextInput
      autoComplete="off"
      {...props}
      type="datetime-local"
      {...(precision === 'second' ? { step: 1 } : {})}
      value={value}
      description={
        description ? (
          <>
            {description} {zone}
          </>
        ) : (
          zone
        )
      }
    />
  )
}

type AllowedFieldsProps = { allowed: boolean; className?: string | undefined; children: ReactNode }

/** The fields of a form. A role that may not change them sees them disabled, with a note. */
export function AllowedFields({ allowed, className, children }: AllowedFieldsProps) {
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
