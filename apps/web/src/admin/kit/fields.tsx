import { NativeSelect, TextInput } from '@mantine/core'
import type { Field, FieldProps, Option } from './resource.ts'

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

export const moneyField = <const N extends string>(name: N): Field<N> => ({
  name,
  Input: plain({ inputMode: 'decimal', leftSection: '$' })
})

export const integerField = <const N extends string>(name: N): Field<N> => ({
  name,
  Input: plain({ inputMode: 'numeric' })
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

const two = (value: number) => String(value).padStart(2, '0')

/** An instant in the reader's own time zone; sent as a Unix timestamp in milliseconds. */
export const timeField = <const N extends string>(name: N): Field<N> => ({
  name,
  Input: plain({ type: 'datetime-local' }),
  shown: value => {
    const at = new Date(typeof value === 'string' ? value : '')
    if (Number.isNaN(at.getTime())) return ''
    const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
    return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`
  },
  sent: value => {
    const at = new Date(value).getTime()
    // Not a number: the schema says that a date is missing.
    return Number.isNaN(at) ? '' : at
  }
})
