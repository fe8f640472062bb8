import type { PasswordOwner, PasswordStrength } from '@netlet/contract/password-strength'
import { PasswordInput as LibraryInput, type PasswordInputProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { useT } from '../i18n/index.ts'
import { formMessage } from './form.ts'

const LEVELS = { weak: 1, fair: 2, strong: 3 } as const satisfies Record<PasswordStrength, number>

type Props = PasswordInputProps & { value?: string; owner: PasswordOwner }

/** A field for a new password, with its rule and how hard it is to guess. */
export function NewPasswordInput({ owner, ...props }: Props) {
  return (
    <div>
      <PasswordInput description={formMessage('password_rule')} autoComplete="new-password" {...props} />
      <Strength password={props.value ?? ''} owner={owner} />
    </div>
  )
}

function Strength({ password, owner: { username, email } }: { password: string; owner: PasswordOwner }) {
  const t = useT()
  const [typed] = useDebouncedValue(password, 150)
  const [strength, setStrength] = useState<PasswordStrength>()
  useEffect(() => {
    if (!typed) return
    let isCurrent = true
    const judge = async () => {
      const { strengthOf } = await import('@netlet/contract/password-strength')
      if (isCurrent) setStrength(strengthOf(typed, { username, email }))
    }
    // Without it the server still judges the password.
    judge().catch(() => isCurrent && setStrength(undefined))
    return () => {
      isCurrent = false
    }
  }, [typed, username, email])
  if (!password || !strength) return null
  const level = LEVELS[strength]
  return (
    <div className="row" style={{ gap: '0.6rem', marginTop: '0.3rem' }}>
      <meter min={0} max={3} low={1.5} high={2.5} optimum={3} value={level} aria-hidden style={{ flex: 1 }} />
      <small className="dim" role="status">
        {t(`newPassword.${strength}`)}
      </small>
    </div>
  )
}

/** Unlike its other fields, the library's password field does not set `aria-invalid` itself. */
export const PasswordInput = (props: PasswordInputProps) => (
  <LibraryInput aria-invalid={props.error ? true : undefined} {...props} />
)
