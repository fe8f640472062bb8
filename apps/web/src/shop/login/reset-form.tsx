import { Button, PasswordInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { call } from '../../api/client.ts'
import { accounts } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/index.ts'
import { failureText, fieldTexts } from '../../i18n/failures.ts'
import { formMessage, rules } from '../../kit/form.ts'
import { notify } from '../../kit/notify.ts'
import { ForgotBody } from '../../kit/schemas.ts'

type Props = { email: string; verifyId: string; onDone: () => void }

export function ResetForm({ email, verifyId, onDone }: Props) {
  const t = useT()
  const form = useForm({
    initialValues: { password: '', again: '' },
    validate: values => ({
      ...rules(ForgotBody.pick({ password: true }))(values),
      ...(values.again ? {} : { again: formMessage('enter_your_password') }),
      ...(values.again && values.again !== values.password ? { again: t('login.inconsistent') } : {})
    })
  })
  const save = useMutation({
    mutationFn: () => call(accounts.forgot, { body: { email, password: form.values.password, verify_id: verifyId } }),
    onSuccess: () => {
      notify('good', t('successfully'))
      onDone()
    },
    onError: error => {
      form.setErrors(fieldTexts(error))
      notify('bad', failureText(error))
    }
  })
  const eye = { visibilityToggleButtonProps: { 'aria-label': t('login.show') } }
  return (
    <form className="stack" noValidate onSubmit={form.onSubmit(() => save.mutate())}>
      <PasswordInput
        label={t('login.newPassword')}
        description={formMessage('password_rule')}
        autoComplete="new-password"
        {...eye}
        {...form.getInputProps('password')}
      />
      <PasswordInput label={t('signUp.again')} autoComplete="new-password" {...eye} {...form.getInputProps('again')} />
      <Button type="submit" loading={save.isPending}>
        {t('confirm')}
      </Button>
    </form>
  )
}
