import { pageAt } from '@netlet/contract/pages'
import { useLocation, useNavigate, useSearchParams } from 'react-router'
import { useT } from '../../i18n/index.ts'
import { useTitle } from '../../kit/use-title.ts'
import { AuthCard } from '../auth-card.tsx'
import { useResetSession } from '../reset-session.ts'
import { ForgotForm } from './forgot-form.tsx'
import { ResetForm } from './reset-form.tsx'

type Proof = { email: string; verifyId: string }

/** The history state survives a reload and is not shared with other tabs. */
const proofIn = (state: unknown): Proof | undefined => {
  const { email, verifyId } = (state ?? {}) as Partial<Record<string, unknown>>
  return typeof email === 'string' && typeof verifyId === 'string' ? { email, verifyId } : undefined
}

/** Resets a forgotten password: first a mailed code, then, with its proof (`?step=reset`), the new password. */
export default function ForgotPage() {
  const t = useT()
  const navigate = useNavigate()
  const { state } = useLocation()
  const [query] = useSearchParams()
  useTitle(t('login.forgotTitle'))
  useResetSession()
  const after = query.get('return')
  const way: Record<string, string> = after ? { return: after } : {}
  const at = (pathname: string, more: Record<string, string> = {}) =>
    `${pathname}?${new URLSearchParams({ ...way, ...more })}`.replace(/\?$/, '')
  const proof = query.get('step') === 'reset' ? proofIn(state) : undefined
  return (
    <AuthCard title={t('login.forgotTitle')}>
      {proof ? (
        <ResetForm
          {...proof}
          onDone={() => void navigate(at(pageAt('login')), { replace: true })}
          onBack={() => void navigate(at(pageAt('forgot')), { replace: true })}
        />
      ) : (
        <ForgotForm
          backTo={at(pageAt('login'))}
          onVerified={given => void navigate(at(pageAt('forgot'), { step: 'reset' }), { state: given })}
        />
      )}
    </AuthCard>
  )
}
