import { Button, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { CurrentUser, SecondFactorMethod } from '@netlet/contract'
import { IconKey } from '@tabler/icons-react'
import { useState } from 'react'
import { ApiError, call } from '../../api/client.ts'
import { secondFactor } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { t as word, useT } from '../../i18n/login.ts'
import { CodeInput } from '../../kit/code-input.tsx'
import { useFormFailure } from '../../kit/form-failure.tsx'
import { formMessage } from '../../kit/form.ts'
import { hasPasskeys, usePasskey as askPasskey } from '../../kit/passkeys.ts'

/** A login whose second factor is to come. */
export type Step = { ticket: string; methods: SecondFactorMethod[] }

const METHODS: readonly SecondFactorMethod[] = ['totp', 'passkey', 'recovery']
const methodsIn = (values: readonly unknown[]): SecondFactorMethod[] => METHODS.filter(name => values.includes(name))

/** The step that a refused log-in asks for; null if it was refused for another reason. */
export function stepOf(error: unknown): Step | null {
  if (!(error instanceof ApiError) || error.refusal.reason !== 'second_factor_needed') return null
  const { ticket, second_factor: methods } = error.refusal as { ticket?: unknown; second_factor?: unknown }
  return typeof ticket === 'string' && Array.isArray(methods) ? { ticket, methods: methodsIn(methods) } : null
}

/** The same after the chat platform's redirect, from the part of the address that no server sees. */
export function stepInHash(hash: string): Step | null {
  const said = new URLSearchParams(hash.slice(1))
  const ticket = said.get('ticket')
  const methods = methodsIn((said.get('second_factor') ?? '').split(','))
  return ticket && methods.length > 0 ? { ticket, methods } : null
}

type Props = { step: Step; onDone: (user: CurrentUser) => void; onBack: () => void }

/** The second step of a log-in: a code, a passkey, or a recovery code. */
export function SecondStep({ step: { ticket, methods }, onDone, onBack }: Props) {
  const t = useT()
  const usable = methods.filter(name => name !== 'passkey' || hasPasskeys())
  const [method, setMethod] = useState(usable[0] ?? 'recovery')
  return (
    <div className="stack">
      {method === 'passkey' ? (
        <PasskeyStep ticket={ticket} onDone={onDone} />
      ) : (
        <CodeStep key={method} ticket={ticket} method={method} onDone={onDone} />
      )}
      {usable
        .filter(other => other !== method)
        .map(other => (
          <Button key={other} variant="default" onClick={() => setMethod(other)}>
            {t(`login.use.${other}`)}
          </Button>
        ))}
      <Button variant="subtle" onClick={onBack}>
        {t('login.startAgain')}
      </Button>
    </div>
  )
}

function CodeStep({
  ticket,
  method,
  onDone
}: Omit<Props, 'step' | 'onBack'> & { ticket: string; method: 'totp' | 'recovery' }) {
  const t = useT()
  const isApp = method === 'totp'
  const form = useForm({
    initialValues: { code: '' },
    validate: ({ code }) => ((isApp ? /^\d{6}$/ : /\S/).test(code) ? {} : { code: formMessage('enter_second_factor') })
  })
  const failure = useFormFailure(form)
  const send = useMutation({
    mutationFn: ({ code }: typeof form.values) =>
      call(secondFactor.secondFactorLogin, { body: { ticket, method, code } }),
    onSuccess: onDone,
    onError: error => {
      form.setFieldValue('code', '')
      failure.refused(error)
    }
  })
  return (
    <form
      className="stack"
      noValidate
      onChange={failure.onChange}
      onSubmit={form.onSubmit(
        values => send.mutate(values),
        errors => failure.invalid(errors)
      )}
    >
      {isApp ? (
        <CodeInput
          label={t('login.stepTotp')}
          description={t('login.stepTotpHint')}
          autoFocus
          {...form.getInputProps('code')}
        />
      ) : (
        <TextInput
          label={t('login.stepRecovery')}
          description={t('login.stepRecoveryHint')}
          autoFocus
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={64}
          {...form.getInputProps('code')}
        />
      )}
      {failure.alert}
      <Button type="submit" fullWidth loading={send.isPending}>
        {t('login.stepSend')}
      </Button>
    </form>
  )
}

function PasskeyStep({ ticket, onDone }: Omit<Props, 'step' | 'onBack'> & { ticket: string }) {
  const t = useT()
  const { alert, ask } = usePasskeyButton(onDone, async () => {
    const request = await call(secondFactor.secondFactorLoginOptions, { body: { ticket } })
    const assertion = await askPasskey(request)
    return call(secondFactor.secondFactorLogin, { body: { ticket, method: 'passkey', assertion } })
  })
  return (
    <>
      <p className="dim">{t('login.stepPasskeyHint')}</p>
      {alert}
      <Button fullWidth autoFocus loading={ask.isPending} onClick={() => ask.mutate()}>
        {t('login.use.passkey')}
      </Button>
    </>
  )
}

/** A button that logs in by a passkey, with what went wrong. */
function usePasskeyButton(onDone: (user: CurrentUser) => void, logIn: () => Promise<CurrentUser>) {
  const failure = useFormFailure(NO_FORM)
  const ask = useMutation({
    mutationFn: logIn,
    onSuccess: onDone,
    // The browser does not say whether the user cancelled.
    onError: error =>
      error instanceof ApiError ? failure.refused(error) : failure.invalid({}, () => word('login.passkeyFailed'))
  })
  return { alert: failure.alert, ask }
}

const NO_FORM = { values: {}, errors: {}, setErrors: () => {}, getInputNode: () => null }

type PasskeyLoginProps = {
  /** Resolves when the former session has ended. */
  before: () => Promise<unknown>
  onDone: (user: CurrentUser) => void
}

/** Logs in by a passkey alone, without name and password. */
export function PasskeyLogin({ before, onDone }: PasskeyLoginProps) {
  const t = useT()
  const { alert, ask } = usePasskeyButton(onDone, async () => {
    await before()
    const { ticket, passkey } = await call(secondFactor.passkeyLoginOptions)
    return call(secondFactor.passkeyLogin, { body: { ticket, assertion: await askPasskey(passkey) } })
  })
  return (
    <div className="stack" style={{ marginTop: '1rem' }}>
      {alert}
      <Button
        fullWidth
        variant="default"
        loading={ask.isPending}
        leftSection={<IconKey size={18} aria-hidden />}
        onClick={() => ask.mutate()}
      >
        {t('login.passkey')}
      </Button>
    </div>
  )
}
