import { PasswordInput as LibraryInput, type PasswordInputProps } from '@mantine/core'

/** Unlike its other fields, the library's password field does not set `aria-invalid` itself. */
export const PasswordInput = (props: PasswordInputProps) => (
  <LibraryInput aria-invalid={props.error ? true : undefined} {...props} />
)
