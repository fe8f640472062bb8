import type { PasswordOwner } from '@netlet/contract/password-strength'
import { Button, Checkbox } from '@mantine/core'
import { useForm } from '@mantine/form'
import { call } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { accounts } from '../../api/routes.ts'
import { reloadSession } from '../../api/session.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { useFormFailure } from '../../kit/form-failure.tsx'
import { rules } from '../../kit/form.ts'
import { NewPasswordInput } from '../../kit/new-password-input.tsx'
import { PasswordInput } from '../../kit/password-input.tsx'
import { ChangePasswordBody } from '../../kit/schemas.ts'

/** Shows no message after success: it only empties the fields. */
export function PasswordForm({ chatName, owner }: { chatName: string | null; owner: PasswordOwner }) {
  const t = useT()
  const form = useForm({
    name: 'password',
    initialValues: { old_password: '', new_password: '', unbind_discord: false },
    validate: rules(ChangePasswordBody)
  })
  const failure = useFormFailure(form)
  const change = useMutation({
    mutationFn: () => call(accounts.changePassword, { body: form.values }),
    onSuccess: () => {
      form.reset()
      void Promise.all([reloadSession(), refresh(accounts.sessions), refresh(accounts.apiKeys)])
    },
    onError: failure.refused
  })
  const eye = { visibilityToggleButtonProps: { 'aria-label': t('settings.show') } }
  return (
    <form
      className="stack"
      noValidate
      onChange={failure.onChange}
      onSubmit={form.onSubmit(
        () => change.mutate(),
        errors => failure.invalid(errors)
      )}
    >
      <PasswordInput
        label={t('settings.old')}
        autoComplete="current-password"
        {...eye}
        {...form.getInputProps('old_password')}
      />
      <NewPasswordInput label={t('settings.new')} owner={owner} {...eye} {...form.getInputProps('new_password')} />
      {chatName !== null && (
        <Checkbox
          label={t('settings.unbind', { name: chatName })}
          {...form.getInputProps('unbind_discord', { type: 'checkbox' })}
        />
      )}
      {failure.alert}
      <Button type="submit" loading={change.isPending} style={{ alignSelf: 'flex-start' }}>
        {t('settings.change')}
      </Button>
    </form>
  )
}
