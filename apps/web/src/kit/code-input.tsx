import { TextInput, type TextInputProps } from '@mantine/core'

/** A field for a mailed code. It removes copied spaces, which would take up room for digits. */
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
