import type { User } from '@netlet/contract'
import { useState } from 'react'
import { accounts } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { rules } from '../../kit/form.ts'
import { AdminPasswordBody } from '../../kit/schemas.ts'
import { useCommand, WorkButton } from '../kit/index.ts'
import { PasswordInput } from '../../kit/password-input.tsx'
import classes from './users.module.css'

const check = rules(AdminPasswordBody)

/** Sets another password at once, apart from what Save saves. */
export function PasswordReset({ user }: { user: User }) {
  const t = useT()
  const [password, setPassword] = useState('')
  const [wrong, setWrong] = useState('')
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
    const found = check({ password })['password'] ?? ''
    setWrong(found)
    if (found) return
    if (await reset.run({ params: { id: user.id }, body: { password } })) setPassword('')
  }
  return (
    <div className={classes.reset}>
      <PasswordInput
        label={t('users.newPassword')}
        autoComplete="new-password"
        value={password}
        error={wrong}
        visibilityToggleButtonProps={{ 'aria-label': t('users.showPassword') }}
        onChange={event => {
          setPassword(event.currentTarget.value)
          setWrong('')
        }}
        // Enter would save the form around it.
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
