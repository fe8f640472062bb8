import { Button, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { call } from '../../api/client.ts'
import { support } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/index.ts'
import { failureText, fieldTexts } from '../../i18n/failures.ts'
import { CaptchaField, useCaptcha } from '../../kit/captcha-field.tsx'
import { formMessage, rules } from '../../kit/form.ts'
import { notify } from '../../kit/notify.ts'
import { TicketForm as TicketRules } from '../../kit/schemas.ts'

export function TicketForm() {
  const t = useT()
  const captcha = useCaptcha(true)
  const form = useForm({
    initialValues: { username: '', email: '', phone: '', message: '', captcha: '' },
    validate: values => ({
      ...rules(TicketRules.omit({ captcha: true, captcha_id: true }))(values),
      ...(/^-?\d{1,6}$/.test(values.captcha.trim()) ? {} : { captcha: formMessage('solve_captcha') })
    })
  })
  const send = useMutation({
    mutationFn: ({ captcha: answer, ...ticket }: typeof form.values) =>
      call(support.createTicket, { body: { ...ticket, captcha: Number(answer), captcha_id: captcha.id ?? '' } }),
    onSuccess: () => {
      notify('good', t('support.sent'))
      form.reset()
    },
    onError: error => {
      form.setErrors(fieldTexts(error))
      notify('bad', failureText(error))
    },
    // A picture counts once, whatever came of it.
    onSettled: () => {
      form.setFieldValue('captcha', '')
      captcha.renew()
    }
  })
  const refuse = (errors: Record<string, unknown>) => {
    const { captcha: unsolved, ...fields } = errors
    const words = Object.values(fields)[0] ?? unsolved
    if (typeof words === 'string') notify('bad', words)
  }
  return (
    <form className="stack" noValidate onSubmit={form.onSubmit(values => send.mutate(values), refuse)}>
      <TextInput label={t('support.name')} autoComplete="username" {...form.getInputProps('username')} />
      <TextInput label={t('email')} type="email" autoComplete="email" {...form.getInputProps('email')} />
      <TextInput label={t('support.phone')} type="tel" autoComplete="tel" {...form.getInputProps('phone')} />
      <Textarea label={t('support.message')} rows={5} {...form.getInputProps('message')} />
      <CaptchaField captcha={captcha} {...form.getInputProps('captcha')} />
      <Button type="submit" loading={send.isPending}>
        {t('support.submit')}
      </Button>
    </form>
  )
}
