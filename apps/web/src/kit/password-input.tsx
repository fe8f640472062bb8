import { PasswordInput as LibraryInput, type PasswordInputProps } from '@mantine/core'

/** The library's field for a password, which does not tell by itself that what is in it is wrong, as its other fields do. */
export const PasswordInput = (props: PasswordInputProps) => (
  <LibraryInput aria-invalid={props.error ? true : undefined} {...props} />
)
