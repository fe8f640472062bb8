import { Button, Checkbox, PasswordInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { call } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { accounts } from '../../api/routes.ts'
import { reloadSession } from '../../api/session.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { failureText, fieldTexts } from '../../i18n/failures.ts'
import { formMessage, rules, useErrorsInLanguage } from '../../kit/form.ts'
import { ChangePasswordBody } from '../../kit/schemas.ts'

/** The change gives no message of its own: the fields are emptied, or say what is wrong with them. */
export function PasswordForm({ chatName }: { chatName: string | null }) {
  const t = useT()
  const form = useForm({
    initialValues: { old_password: '', new_password: '', unbind_discord: false },
    validate: rules(ChangePasswordBody)
  })
  useErrorsInLanguage(form)
  const change = useMutation({
    mutationFn: () => call(accounts.changePassword, { body: form.values }),
    onSuccess: () => {
      form.reset()
      void Promise.all([reloadSession(), refresh(accounts.sessions), refresh(accounts.apiKeys)])
    },
    onError: error => {
      const fields = fieldTexts(error)
      form.setErrors(Object.keys(fields).length > 0 ? fields : { old_password: failureText(error) })
    }
  })
  const eye = { visibilityToggleButtonProps: { 'aria-label': t('settings.show') } }
  return (
    <form className="stack" noValidate onSubmit={form.onSubmit(() => change.mutate())}>
      <PasswordInput
        label={t('settings.old')}
        autoComplete="current-password"
        {...eye}
        {...form.getInputProps('old_password')}
      />
      <PasswordInput
        label={t('settings.new')}
        description={formMessage('password_rule')}
        autoComplete="new-password"
        {...eye}
        {...form.getInputProps('new_password')}
      />
      {chatName !== null && (
        <Checkbox
          label={t('settings.unbind', { name: chatName })}
          {...form.getInputProps('unbind_discord', { type: 'checkbox' })}
        />
      )}
      <Button type="submit" loading={change.isPending} style={{ alignSelf: 'flex-start' }}>
        {t('settings.change')}
      </Button>
    </form>
  )
}
