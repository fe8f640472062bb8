import { Button, PasswordInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { failureText, fieldTexts } from '../../i18n/failures.ts'
import { rules, useErrorsInLanguage } from '../../kit/form.ts'
import { notify } from '../../kit/notify.ts'
import { ConfirmBody } from '../../kit/schemas.ts'

type Props = {
  /** The words of the button that does it. */
  label: string
  danger?: boolean
  onConfirm: (password: string) => Promise<unknown>
  onCancel: () => void
}

/** Asks for the password again: what it confirms must not be done by whoever finds the session open. */
export function ConfirmForm({ label, danger, onConfirm, onCancel }: Props) {
  const t = useT()
  const form = useForm({ initialValues: { password: '' }, validate: rules(ConfirmBody) })
  useErrorsInLanguage(form)
  const confirm = useMutation({
    mutationFn: ({ password }: typeof form.values) => onConfirm(password),
    onError: error => {
      const fields = fieldTexts(error)
      form.setErrors(fields)
      if (Object.keys(fields).length === 0) notify('bad', failureText(error))
    }
  })
  return (
    <form className="stack" noValidate onSubmit={form.onSubmit(values => confirm.mutate(values))}>
      <PasswordInput
        label={t('settings.confirm')}
        autoComplete="current-password"
        data-autofocus
        visibilityToggleButtonProps={{ 'aria-label': t('settings.show') }}
        {...form.getInputProps('password')}
      />
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
