import '../../kit/styles/forms.ts'
import { Button, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { call } from '../../api/client.ts'
import { status } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { failureText, fieldTexts } from '../../i18n/failures.ts'
import { useT as useShopT } from '../../i18n/index.ts'
import { useLanguage } from '../../i18n/language.ts'
import { useT } from '../../i18n/status.ts'
import { rules } from '../../kit/form.ts'
import { SubscribeForm as SubscribeRules } from '../../kit/schemas.ts'
import classes from './status.module.css'

/** Subscribes an address to incident mails after a confirmation. */
export function SubscribeForm() {
  const t = useT()
  const shopT = useShopT()
  const language = useLanguage()
  const form = useForm({
    initialValues: { email: '' },
    validate: values => rules(SubscribeRules)({ ...values, language })
  })
  const focusField = () => form.getInputNode('email')?.focus()
  const send = useMutation({
    mutationFn: ({ email }: { email: string }) => call(status.subscribe, { body: { email, language } }),
    onSuccess: () => form.reset(),
    onError: error => {
      const errors = fieldTexts(error)
      form.setErrors(errors)
      if (errors['email']) focusField()
    }
  })
  return (
    <section className={`card ${classes.box}`} aria-labelledby="subscribe">
      <h2 id="subscribe">{t('subscribe')}</h2>
      <p className="dim">{t('subscribeHint')}</p>
      <form className={classes.form} noValidate onSubmit={form.onSubmit(values => send.mutate(values), focusField)}>
        <TextInput label={shopT('email')} type="email" autoComplete="email" {...form.getInputProps('email')} />
        <Button type="submit" loading={send.isPending}>
          {t('subscribeButton')}
        </Button>
      </form>
      {send.isSuccess && <p role="status">{t('subscribed')}</p>}
      {send.error && <p role="alert">{failureText(send.error, t('failed'))}</p>}
    </section>
  )
}
