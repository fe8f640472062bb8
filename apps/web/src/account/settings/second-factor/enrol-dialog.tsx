import { RecoveryCodes } from './recovery-codes.tsx'
import type { Confirmation, PasskeyCreation, SecondFactorKind } from '@netlet/contract'
import { Button, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { lazy, Suspense, useState } from 'react'
import { ApiError, call } from '../../../api/client.ts'
import { refresh } from '../../../api/query.ts'
import { secondFactor } from '../../../api/routes.ts'
import { reloadSession } from '../../../api/session.ts'
import { useMutation } from '../../../api/use-mutation.ts'
import { type Key, t as word, useT } from '../../../i18n/account.ts'
import { CodeInput } from '../../../kit/code-input.tsx'
import { CopyButton } from '../../../kit/copy-button.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { useFormFailure } from '../../../kit/form-failure.tsx'
import { rules } from '../../../kit/form.ts'
import { notify } from '../../../kit/notify.ts'
import { createPasskey } from '../../../kit/passkeys.ts'
import { SecondFactorConfirmForm } from '../../../kit/schemas.ts'
import { ConfirmForm } from '../confirm-form.tsx'
import classes from './second-factor.module.css'

const QrCode = lazy(() => import('./qr-code.tsx'))

type Begun = { totp: { secret: string; uri: string } | null; passkey: PasskeyCreation | null }

type Props = {
  method: SecondFactorKind
  /** There is an app, which the new one replaces. */
  replaces: boolean
  onClose: () => void
}

/** Adds an authenticator app or a passkey: confirm, add, and keep the recovery codes. */
export default function EnrolDialog({ method, replaces, onClose }: Props) {
  const t = useT()
  const [begun, setBegun] = useState<Begun | null>(null)
  const [codes, setCodes] = useState<string[] | null>(null)
  const begin = async (confirmation: Confirmation) =>
    setBegun(await call(secondFactor.beginSecondFactor, { body: { method, ...confirmation } }))
  const added = async (name: string, made: string[] | null) => {
    notify('good', t('factors.added', { name }))
    if (made) setCodes(made)
    else onClose()
    await Promise.all([refresh(secondFactor.secondFactors), reloadSession()])
  }
  const isApp = method === 'totp'
  return (
    <Dialog
      title={codes ? t('factors.codes') : t(isApp ? 'factors.addTotp' : 'factors.addPasskey')}
      // A click beside must not lose the codes.
      closeOnClickOutside={!codes && !begun}
      onClose={onClose}
    >
      {codes ? (
        <RecoveryCodes codes={codes} onDone={onClose} />
      ) : begun?.totp ? (
        <AppForm {...begun.totp} onAdded={added} />
      ) : begun?.passkey ? (
        <PasskeyForm options={begun.passkey} onAdded={added} />
      ) : (
        <div className="stack">
          <p>{t(isApp ? 'factors.confirmTotp' : 'factors.confirmPasskey')}</p>
          {replaces && isApp && <p className="dim">{t('factors.replaceHint')}</p>}
          <ConfirmForm label={t('factors.next')} onConfirm={begin} onCancel={onClose} />
        </div>
      )}
    </Dialog>
  )
}

type Added = (name: string, codes: string[] | null) => Promise<void>

const check = rules(SecondFactorConfirmForm)

function AppForm({ secret, uri, onAdded }: { secret: string; uri: string; onAdded: Added }) {
  const t = useT()
  const form = useForm({ initialValues: { name: t('factors.defaultTotp'), code: '' }, validate: check })
  const failure = useFormFailure(form)
  const confirm = useMutation({
    mutationFn: (body: typeof form.values) => call(secondFactor.confirmSecondFactor, { body }),
    onSuccess: ({ factor, recovery_codes }) => onAdded(factor.name, recovery_codes),
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
        values => confirm.mutate(values),
        errors => failure.invalid(errors)
      )}
    >
      <p>{t('factors.scan')}</p>
      <Suspense fallback={<div style={{ height: 200 }} />}>
        <QrCode text={uri} label={t('factors.scanAlt')} />
      </Suspense>
      <div className={classes.secret}>
        <span className="dim">{t('factors.secret')}</span>
        <code className="mono">{secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code>
        <CopyButton text={secret} name={t('factors.secretName')} size="compact-sm" variant="default" />
      </div>
      <CodeInput label={t('factors.firstCode')} autoFocus {...form.getInputProps('code')} />
      <TextInput label={t('factors.name')} maxLength={64} autoComplete="off" {...form.getInputProps('name')} />
      {failure.alert}
      <Button type="submit" loading={confirm.isPending}>
        {t('factors.addTotp')}
      </Button>
    </form>
  )
}

function PasskeyForm({ options, onAdded }: { options: PasskeyCreation; onAdded: Added }) {
  const t = useT()
  const form = useForm({ initialValues: { name: t('factors.defaultPasskey') } })
  const failure = useFormFailure(form)
  const create = useMutation({
    mutationFn: async ({ name }: typeof form.values) =>
      call(secondFactor.confirmSecondFactor, { body: { name, attestation: await createPasskey(options) } }),
    onSuccess: ({ factor, recovery_codes }) => onAdded(factor.name, recovery_codes),
    onError: error =>
      error instanceof ApiError ? failure.refused(error) : failure.invalid({}, () => word(whyNot(error)))
  })
  return (
    <form
      className="stack"
      noValidate
      onChange={failure.onChange}
      onSubmit={form.onSubmit(values => create.mutate(values))}
    >
      <TextInput
        label={t('factors.name')}
        maxLength={64}
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('name')}
      />
      <p className="dim">{t('factors.createHint')}</p>
      {failure.alert}
      <Button type="submit" loading={create.isPending}>
        {t('factors.create')}
      </Button>
    </form>
  )
}

/** The browser does not say whether the user cancelled. */
const whyNot = (error: unknown): Key =>
  error instanceof Error && error.name === 'InvalidStateError' ? 'factors.exists' : 'factors.notCreated'
