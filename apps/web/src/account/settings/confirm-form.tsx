import { Button } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useId } from 'react'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { useFormFailure } from '../../kit/form-failure.tsx'
import { rules } from '../../kit/form.ts'
import { PasswordInput } from '../../kit/password-input.tsx'
import { ConfirmBody } from '../../kit/schemas.ts'

type Props = {
  /** The text of the submit button. */
  label: string
  danger?: boolean
  onConfirm: (password: string) => Promise<unknown>
  onCancel: () => void
}

/** The library allows only letters, digits and dashes. */
const formNameOf = (id: string) => id.replaceAll(/[^a-zA-Z0-9]/g, '-')

/** Asks for the password again, to protect a session that someone else finds open. */
export function ConfirmForm({ label, danger, onConfirm, onCancel }: Props) {
  const t = useT()
  const form = useForm({ name: formNameOf(useId()), initialValues: { password: '' }, validate: rules(ConfirmBody) })
  const failure = useFormFailure(form)
  const confirm = useMutation({
    mutationFn: ({ password }: typeof form.values) => onConfirm(password),
    onError: failure.refused
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
      <PasswordInput
        label={t('settings.confirm')}
        autoComplete="current-password"
        autoFocus
        visibilityToggleButtonProps={{ 'aria-label': t('settings.show') }}
        {...form.getInputProps('password')}
      />
      {failure.alert}
      <div className="row">
        <Button type="submit" color={danger ? 'red.9' : undefined} loading={confirm.isPending}>
          {label}
        </Button>
        <Button variant="default" onClick={onCancel}>
          {t('settings.cancel')}
        </Button>
      </div>
    </form>
  )
}
