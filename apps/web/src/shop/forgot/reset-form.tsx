import { Button } from '@mantine/core'
import { useForm } from '@mantine/form'
import { call } from '../../api/client.ts'
import { accounts } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { noted } from '../../i18n/failures.ts'
import { t as word, useT } from '../../i18n/index.ts'
import { useFormFailure } from '../../kit/form-failure.tsx'
import { formMessage, rules } from '../../kit/form.ts'
import { NewPasswordInput } from '../../kit/new-password-input.tsx'
import { notify } from '../../kit/notify.ts'
import { PasswordInput } from '../../kit/password-input.tsx'
import { ForgotBody } from '../../kit/schemas.ts'

type Props = { email: string; verifyId: string; onDone: () => void; onBack: () => void }

export function ResetForm({ email, verifyId, onDone, onBack }: Props) {
  const t = useT()
  const form = useForm({
    initialValues: { password: '', again: '' },
    validate: values => ({
      ...rules(ForgotBody.pick({ password: true }))(values),
      ...(values.again ? {} : { again: formMessage('enter_your_password') }),
      ...(values.again && values.again !== values.password
        ? { again: noted(t('login.inconsistent'), () => word('login.inconsistent')) }
        : {})
    })
  })
  const failure = useFormFailure(form)
  const save = useMutation({
    mutationFn: () => call(accounts.forgot, { body: { email, password: form.values.password, verify_id: verifyId } }),
    onSuccess: () => {
      notify('good', t('successfully'))
      onDone()
    },
    onError: failure.refused
  })
  const eye = { visibilityToggleButtonProps: { 'aria-label': t('login.show') } }
  return (
    <form
      className="stack"
      noValidate
      onChange={failure.onChange}
      onSubmit={form.onSubmit(
        () => save.mutate(),
        errors => failure.invalid(errors)
      )}
    >
      <NewPasswordInput label={t('login.newPassword')} owner={{ email }} {...eye} {...form.getInputProps('password')} />
      <PasswordInput label={t('signUp.again')} autoComplete="new-password" {...eye} {...form.getInputProps('again')} />
      {failure.alert}
      <Button type="submit" loading={save.isPending}>
        {t('confirm')}
      </Button>
      <Button variant="subtle" onClick={onBack}>
        {t('login.otherCode')}
      </Button>
    </form>
  )
}
