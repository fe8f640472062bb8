import { Button, TextInput } from '@mantine/core'
import { useEffect, type ComponentProps } from 'react'
import { call } from '../api/client.ts'
import { accounts } from '../api/routes.ts'
import { useMutation } from '../api/use-mutation.ts'
import { useT } from '../i18n/index.ts'
import { currentLanguage } from '../i18n/language.ts'
import { failureText, fieldTexts } from '../i18n/failures.ts'
import { formMessage } from '../kit/form.ts'
import { notify } from '../kit/notify.ts'
import { useCountdown } from '../kit/use-countdown.ts'

/** Seconds until another code can be sent. */
const WAIT = 600

type Props = {
  email: string
  type: 'register' | 'forgot'
  onSent: (codeId: string) => void
  onRefused: (errors: Record<string, string>) => void
  /** Each new value ends the wait: a sign-up that failed may need another code. */
  resetKey?: number
} & ComponentProps<typeof TextInput>

/** The field for a mailed code, with the button that has it sent. */
export function SendCode({ email, type, onSent, onRefused, resetKey = 0, ...input }: Props) {
  const t = useT()
  const [left, start] = useCountdown()
  useEffect(() => {
    if (resetKey > 0) start(0)
  }, [resetKey, start])
  const send = useMutation({
    mutationFn: () =>
      call(accounts.emailValidate, {
        body: { email, type, language: currentLanguage(), ...(type === 'forgot' ? { check_user: 1 as const } : {}) }
      }),
    onSuccess: ({ email_code_id }) => {
      onSent(email_code_id)
      start(WAIT)
      notify('good', t('sendCode.sent'))
    },
    onError: error => {
      onRefused(fieldTexts(error))
      notify('bad', failureText(error))
    }
  })
  const ask = () => {
    if (email.trim()) return send.mutate()
    onRefused({ email: formMessage('enter_your_email') })
    notify('bad', formMessage('enter_your_email'))
  }
  return (
    <div style={{ display: 'flex', gap: '0.6rem', alignItems: 'flex-start' }}>
      <TextInput inputMode="numeric" autoComplete="one-time-code" maxLength={6} style={{ flex: 1 }} {...input} />
      <Button
        variant="default"
        mt="1.55rem"
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
