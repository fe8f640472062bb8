import { Button, type TextInput } from '@mantine/core'
import { type ComponentProps, useEffect, useRef } from 'react'
import { call } from '../api/client.ts'
import { accounts } from '../api/routes.ts'
import { useMutation } from '../api/use-mutation.ts'
import { useT } from '../i18n/index.ts'
import { currentLanguage } from '../i18n/language.ts'
import { failureText, fieldTexts } from '../i18n/failures.ts'
import { CodeInput } from '../kit/code-input.tsx'
import { formMessage } from '../kit/form.ts'
import { notify } from '../kit/notify.ts'
import { useSecondsUntil } from '../kit/use-countdown.ts'
import { queryClient } from '../api/query.ts'
import { sessionQuery, setSessionUser } from '../api/session.ts'

/** Milliseconds before another code can be sent. */
const WAIT = 600_000

/** A mailed code: its id ('' before the first), and when another can be sent (milliseconds). */
export type MailedCode = { id: string; until: number }
export const NO_CODE: MailedCode = { id: '', until: 0 }

type Props = {
  email: string
  type: 'register' | 'forgot'
  mailed: MailedCode
  onSent: (mailed: MailedCode) => void
  /** Errors of the fields `email` and `email_code`. */
  onRefused: (errors: Record<string, string>) => void
} & ComponentProps<typeof TextInput>

/** The field for a mailed code, with its send button. */
export function SendCode({ email, type, mailed, onSent, onRefused, ...input }: Props) {
  const t = useT()
  const left = useSecondsUntil(mailed.until || null)
  const send = useMutation({
    mutationFn: () =>
      call(accounts.emailValidate, {
        body: { email, type, language: currentLanguage(), ...(type === 'forgot' ? { check_user: 1 as const } : {}) }
      }),
    onSuccess: ({ email_code_id }) => {
      onSent({ id: email_code_id, until: Date.now() + WAIT })
      notify('good', t('sendCode.sent'))
    },
    onError: error => {
      const errors = fieldTexts(error)
      // Other errors show at the code's field.
      onRefused(errors['email'] || errors['email_code'] ? errors : { email_code: failureText(error) })
    }
  })
  const ask = () => {
    if (email.trim()) send.mutate()
    else onRefused({ email: formMessage('enter_your_email') })
  }
  return (
    <div style={{ display: 'flex', flexWrap: 'wrap', gap: '0.6rem', alignItems: 'flex-start' }}>
      <CodeInput style={{ flex: '1 1 8rem', minWidth: 0 }} {...input} />
      <Button
        variant="default"
        mt="calc(var(--nl-size-body) * var(--mantine-line-height) + var(--nl-label-gap))"
        miw="8rem"
        className="num"
        disabled={left > 0}
        loading={send.isPending}
        onClick={ask}
      >
        {left > 0 ? t('sendCode.wait', { seconds: left }) : t('sendCode')}
      </Button>
    </div>
  )
}

/**
 * Ends the current session when a page opens. Without a session it sends nothing: a logout that arrives after a login
 * in another tab would end that session, because tabs share the cookie.
 * @returns resolves when the session has ended; log in only then
 */
export function useResetSession(): () => Promise<unknown> {
  const reset = useRef<Promise<unknown> | null>(null)
  useEffect(() => {
    if (queryClient.getQueryData(sessionQuery.queryKey) === null) return
    reset.current ??= call(accounts.logout)
      .catch(() => null)
      .then(() => setSessionUser(null))
  }, [])
  return () => reset.current ?? Promise.resolve()
}
