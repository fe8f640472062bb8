import type { Confirmation } from '@netlet/contract'
import { Button, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useId, useState, type ReactNode, type RefObject } from 'react'
import { ApiError, call } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { secondFactor } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { t as word, useT } from '../../i18n/account.ts'
import { failureText, fieldTexts } from '../../i18n/failures.ts'
import { CodeInput } from '../../kit/code-input.tsx'
import { useFormFailure } from '../../kit/form-failure.tsx'
import { formMessage, rules } from '../../kit/form.ts'
import { hasPasskeys, usePasskey as askPasskey } from '../../kit/passkeys.ts'
import { PasswordInput } from '../../kit/new-password-input.tsx'
import { ConfirmBody } from '../../kit/schemas.ts'

type Props = {
  /** The text of the submit button. */
  label: string
  danger?: boolean
  /** Asks for the password and, if the account has one, a second factor. By default for one of them. */
  both?: boolean
  /** Other fields of the call, above the password. */
  children?: ReactNode
  /** The form of these other fields. It is checked with this one, and shows what the server says of them. */
  fields?: Fields
  /** Set to the submit button. */
  button?: RefObject<HTMLButtonElement | null>
  onConfirm: (confirmation: Confirmation) => Promise<unknown>
  onCancel?: () => void
}

type Fields = Pick<UseFormReturnType<never>, 'setErrors' | 'getInputNode'> & {
  values: object
  validate: () => { hasErrors: boolean; errors: object }
}

type Way = 'password' | 'totp' | 'passkey' | 'recovery'

/** The library allows only letters, digits and dashes. */
const formNameOf = (id: string) => id.replaceAll(/[^a-zA-Z0-9]/g, '-')

const checkPassword = rules(ConfirmBody)

/** Asks for the password again, or for a second factor, to protect a session that someone else finds open. */
export function ConfirmForm({ label, danger, both = false, children, fields, button, onConfirm, onCancel }: Props) {
  const t = useT()
  const { data } = useQuery(read(secondFactor.secondFactors))
  const has = (kind: 'totp' | 'passkey') => data?.factors.some(({ method }) => method === kind) ?? false
  const factors: Way[] = [
    ...(has('totp') ? (['totp'] as const) : []),
    ...(has('passkey') && hasPasskeys() ? (['passkey'] as const) : []),
    // For a passkey that is out of reach.
    ...(both && data && data.recovery_codes_left > 0 ? (['recovery'] as const) : [])
  ]
  const ways: Way[] = both && factors.length > 0 ? factors : ['password', ...factors]
  const [chosen, setWay] = useState<Way | null>(null)
  const way = chosen ?? ways[0] ?? 'password'
  const asksPassword = both || way === 'password'
  const form = useForm({
    name: formNameOf(useId()),
    initialValues: { password: '', code: '' },
    validate: ({ password, code }) => {
      const isCode = way === 'totp' ? /^\d{6}$/ : way === 'recovery' ? /\S/ : /^/
      return {
        ...(asksPassword && checkPassword({ password })),
        ...(!isCode.test(code) && { code: formMessage('enter_second_factor') })
      }
    }
  })
  const failure = useFormFailure(form)
  const focusFirst = (errors: object) => fields?.getInputNode(Object.keys(errors)[0] as never)?.focus()
  const confirm = useMutation({
    mutationFn: async ({ password, code }: typeof form.values) => {
      const typed = asksPassword ? { password } : {}
      if (way === 'password') return onConfirm(typed)
      if (way !== 'passkey') return onConfirm({ ...typed, second_factor: { method: way, code } })
      const assertion = await askPasskey(await call(secondFactor.secondFactorOptions))
      return onConfirm({ ...typed, second_factor: { method: 'passkey', assertion } })
    },
    // A code counts once.
    onSuccess: () => form.setFieldValue('code', ''),
    onError: error => {
      if (!(error instanceof ApiError)) return failure.invalid({}, () => word('factors.notUsed'))
      const texts = fieldTexts(error)
      const theirs = Object.entries(texts).filter(([name]) => fields && name in fields.values)
      if (theirs.length > 0) {
        fields?.setErrors(Object.fromEntries(theirs))
        return focusFirst(Object.fromEntries(theirs))
      }
      if (way === 'passkey' && !('password' in texts)) return failure.invalid({}, () => failureText(error))
      // A code counts once.
      form.setFieldValue('code', '')
      failure.refused(error)
    }
  })
  /** Checks the other fields, which show what is wrong. */
  const isRight = () => {
    const checked = fields?.validate()
    if (checked?.hasErrors) focusFirst(checked.errors)
    return !checked?.hasErrors
  }
  const change = (next: Way) => {
    form.clearErrors()
    failure.onChange()
    setWay(next)
  }
  return (
    <form
      className="stack"
      noValidate
      onChange={failure.onChange}
      onSubmit={form.onSubmit(
        values => {
          if (isRight()) confirm.mutate(values)
        },
        errors => {
          failure.invalid(errors)
          isRight()
        }
      )}
    >
      {children}
      {asksPassword && (
        <PasswordInput
          label={t('settings.confirm')}
          autoComplete="current-password"
          autoFocus={!children}
          // A dialog takes the first button instead.
          data-autofocus={children ? undefined : true}
          visibilityToggleButtonProps={{ 'aria-label': t('settings.show') }}
          {...form.getInputProps('password')}
        />
      )}
      {way === 'totp' && <CodeInput label={t('factors.code')} autoFocus={!both} {...form.getInputProps('code')} />}
      {way === 'recovery' && (
        <TextInput
          label={t('factors.recovery')}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={64}
          {...form.getInputProps('code')}
        />
      )}
      {way === 'passkey' && <p className="dim">{t('factors.createHint')}</p>}
      {failure.alert}
      <div className="row">
        {/* The button that chose the passkey disappears with the focus. */}
        <Button
          key={way === 'passkey' ? 'passkey' : 'typed'}
          autoFocus={way === 'passkey' && !both}
          ref={button}
          type="submit"
          color={danger ? 'red.9' : undefined}
          loading={confirm.isPending}
        >
          {label}
        </Button>
        {onCancel && (
          <Button variant="default" onClick={onCancel}>
            {t('settings.cancel')}
          </Button>
        )}
      </div>
      {ways.length > 1 && (
        <div className="row">
          {ways
            .filter(other => other !== way)
            .map(other => (
              <Button key={other} size="compact-sm" variant="subtle" onClick={() => change(other)}>
                {t(`factors.use.${other}`)}
              </Button>
            ))}
        </div>
      )}
    </form>
  )
}
