import { NativeSelect, Switch, TextInput } from '@mantine/core'
import { useT, type Key } from '../../i18n/admin.ts'
import { PasswordInput } from '../../kit/password-input.tsx'
import { instantOf, localTime } from './local-time.ts'
import type { Field, FieldProps, Option, TranslatedField } from './resource.ts'
import { TimeInput } from './time-input.tsx'

// Each maker gives a field whose name must be in the form's schema. What is typed is sent as it is: the contract's
// schema reads it on both sides.

const plain = (more: object) =>
  function Plain(props: FieldProps) {
    return <TextInput autoComplete="off" {...more} {...props} />
  }

export const textField = <const N extends string>(name: N, { mono = false } = {}): Field<N> => ({
  name,
  Input: plain(mono ? { spellCheck: false, classNames: { input: 'mono' } } : {})
})

/** A secret, which is written and never shown; left empty it stays as it is. */
export const secretField = <const N extends string>(name: N): Field<N> => ({
  name,
  optional: true,
  secret: true,
  Input: function Secret(props: FieldProps) {
    // The browser offers no password of the operator's own here. Mantine marks its other fields as invalid, not this one.
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

/** On or off, sent as 1 or 0; off where a row does not say. */
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
  useTold: () => {
    const t = useT()
    return value => t(value === '1' ? 'list.yes' : 'list.no')
  },
  sent: value => (value === '1' ? 1 : 0)
})

export const moneyField = <const N extends string>(name: N): Field<N> => ({
  name,
  Input: plain({ inputMode: 'decimal', leftSection: '$' })
})

/** What a code takes off: an amount, or a share where the field `type` says percent. */
export const discountField = <const N extends string>(name: N, type: string): Field<N> => ({
  name,
  Input: plain({ inputMode: 'decimal' }),
  unit: values => (values[type] === 'percent' ? { rightSection: '%' } : { leftSection: '$' })
})

export const integerField = <const N extends string>(name: N): Field<N> => ({
  name,
  Input: plain({ inputMode: 'numeric' })
})

/** One of a few values; `words` is where their names stand, as for the filter `oneOf`. None is chosen before. */
export const choiceField = <const N extends string>(name: N, values: readonly string[], words: string): Field<N> => ({
  name,
  Input: function Choice(props: FieldProps) {
    const t = useT()
    const options = values.map(value => ({ value, label: t(`${words}.${value}` as Key) }))
    return <NativeSelect data={[{ value: '', label: '', disabled: true }, ...options]} {...props} />
  },
  useTold: () => {
    const t = useT()
    return value => (value === '' ? '' : t(`${words}.${value}` as Key))
  }
})

/** A number that may be left out; what then counts stands in the empty input. */
export const numberField = <const N extends string>(name: N, { standard }: { standard: number }): Field<N> => ({
  name,
  Input: plain({ inputMode: 'numeric' }),
  placeholder: () => String(standard),
  sent: value => (value.trim() === '' ? undefined : value)
})

/** One of what a call offers, by its id, or none of it: `useNone` says what that means. */
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

/** The same field where nothing has to be entered. */
export const optional = <const N extends string>(field: Field<N>): Field<N> => ({ ...field, optional: true })

/** The text of another field in Chinese; left empty, visitors read the other field's. */
export const inChinese = <const N extends string>(text: string, field: Field<N>): TranslatedField<N> => ({
  ...field,
  name: 'translations',
  optional: true,
  translates: { language: 'zh-CN', text, like: field.name }
})

/** All that the input holds. */
const toMinute = (value: unknown) => localTime(value, 'minute')

/** An instant in the reader's own time zone; sent as a Unix timestamp in milliseconds. */
export const timeField = <const N extends string>(name: N): Field<N> => ({
  name,
  Input: function Time({ value, ...props }: FieldProps) {
    return <TimeInput precision="minute" value={typeof value === 'string' ? value : ''} {...props} />
  },
  shown: toMinute,
  sent: (value, row) => {
    // What was not edited keeps its seconds.
    const at = new Date(value !== '' && value === toMinute(row[name]) ? String(row[name]) : value).getTime()
    // Not a number: the schema says that a date is missing.
    return Number.isNaN(at) ? '' : at
  }
})

/** The same, sent as an ISO 8601 text. */
export const instantField = <const N extends string>(name: N): Field<N> => ({
  ...timeField(name),
  sent: value => instantOf(value) ?? ''
})
