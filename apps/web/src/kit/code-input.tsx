import { TextInput, type TextInputProps } from '@mantine/core'

/** A field for a mailed code. Spaces that were copied with it are left out: they would take the place of its digits. */
export function CodeInput({ onChange, ...input }: TextInputProps) {
  return (
    <TextInput
      inputMode="numeric"
      autoComplete="one-time-code"
      {...input}
      onChange={event => {
        event.currentTarget.value = event.currentTarget.value.replaceAll(/\s/g, '').slice(0, 6)
        onChange?.(event)
      }}
    />
  )
}
