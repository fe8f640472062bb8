import type { User } from '@netlet/contract'
import { useRef, useState } from 'react'
import { accounts } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { rules } from '../../kit/form.ts'
import { AdminPasswordBody } from '../../kit/schemas.ts'
import { useCommand, WorkButton } from '../kit/index.ts'
import { PasswordInput } from '../../kit/new-password-input.tsx'
import classes from './users.module.css'

const check = rules(AdminPasswordBody)

/** A typed password that is not set yet. The surrounding form checks it. `refuse` shows a reason at the field. */
export function useNewPassword() {
  const [value, setValue] = useState('')
  const [wrong, setWrong] = useState('')
  const input = useRef<HTMLInputElement>(null)
  const set = (typed: string) => {
    setValue(typed)
    setWrong('')
  }
  const refuse = (why: string) => {
    setWrong(why)
    input.current?.focus()
  }
  return { value, wrong, input, set, refuse }
}

type Props = { user: User; password: ReturnType<typeof useNewPassword> }

/** Sets a new password at once, without Save. */
export function PasswordReset({ user, password: { value, wrong, input, set, refuse } }: Props) {
  const t = useT()
  const reset = useCommand(accounts.adminPassword, {
    confirm: {
      title: t('users.resetTitle'),
      body: t('users.resetBody', { user: user.username }),
      danger: true
    },
    success: t('users.resetDone'),
    invalidate: [accounts.user, accounts.userSessions, accounts.userApiKeys]
  })
  const send = async () => {
    const found = check({ password: value })['password']
    if (found) return refuse(found)
    if (await reset.run({ params: { id: user.id }, body: { password: value } })) set('')
  }
  return (
    <div className={`row bottom ${classes.reset}`} style={{ gap: '0.6rem' }}>
      <PasswordInput
        label={t('users.newPassword')}
        autoComplete="new-password"
        ref={input}
        value={value}
        error={wrong}
        visibilityToggleButtonProps={{ 'aria-label': t('users.showPassword') }}
        onChange={event => set(event.currentTarget.value)}
        // Enter would submit the surrounding form.
        onKeyDown={event => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          void send()
        }}
      />
      <WorkButton variant="default" working={reset.running} onClick={() => void send()}>
        {t('users.reset')}
      </WorkButton>
    </div>
  )
}
