import { Button, Skeleton, TextInput, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { CurrentUser } from '@netlet/contract'
import { IconBrandDiscord } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { call } from '../../api/client.ts'
import { usePollInterval } from '../../api/feed-connected.ts'
import { read, refresh } from '../../api/query.ts'
import { settings, support } from '../../api/routes.ts'
import { useSession } from '../../api/session.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { rememberSentence } from '../../i18n/failures.ts'
import { t as word, useT } from '../../i18n/index.ts'
import { useT as useOwnT } from '../../i18n/support.ts'
import { CaptchaField, useCaptcha } from '../../kit/captcha-field.tsx'
import { useFormFailure } from '../../kit/form-failure.tsx'
import { formMessage, rules } from '../../kit/form.ts'
import { notify } from '../../kit/notify.ts'
import { TicketForm as TicketRules } from '../../kit/schemas.ts'
import { numberIn, useAddress } from '../../kit/use-address.ts'
import { useTitle } from '../../kit/use-title.ts'
import { webAddress } from '../../kit/web-address.ts'
import { Faq } from './faq.tsx'
import { BackToSupport, OwnTicket } from './own-ticket.tsx'
import { OwnTickets } from './own-tickets.tsx'
import classes from './support.module.css'
import '../../kit/styles/forms.ts'

export default function SupportPage() {
  const t = useT()
  const ownT = useOwnT()
  const { query } = useAddress()
  const ticket = numberIn(query, 'ticket')
  const title = ticket === undefined ? t('support.title') : ownT('one', { id: ticket })
  useTitle(title)
  const heading = useRef<HTMLHeadingElement>(null)
  const shown = useRef(ticket)
  useEffect(() => {
    if (shown.current !== ticket) heading.current?.focus()
    shown.current = ticket
  }, [ticket])
  const head = (
    <h1 ref={heading} tabIndex={-1}>
      {title}
    </h1>
  )
  if (ticket !== undefined)
    return (
      <div className={`wide page stack ${classes.ticket}`}>
        <BackToSupport />
        {head}
        <OwnTicket key={ticket} id={ticket} />
      </div>
    )
  return (
    <div className="wide page">
      {head}
      <p className="dim" style={{ marginTop: '0.4rem' }}>
        {t('support.lead')}
      </p>
      <div className={classes.columns}>
        <section id="faq" className="stack" aria-labelledby="faq-title">
          <h2 id="faq-title">{t('support.faq')}</h2>
          <Faq />
        </section>
        <Contact />
      </div>
    </div>
  )
}

/** Own tickets shown at first, and more with each press. */
const FIRST = 3
const MORE = 20

/** One's own tickets, the form and the chat. They appear together, so that nothing moves. */
function Contact() {
  const t = useT()
  const ownT = useOwnT()
  const { user, pending } = useSession()
  const [limit, setLimit] = useState(FIRST)
  const own = useQuery({
    ...read(support.ownTickets, { query: { limit } }),
    enabled: user !== null,
    placeholderData: previous => previous,
    refetchInterval: usePollInterval(30_000)
  })
  const { data: social } = useQuery({ ...read(settings.social), staleTime: Infinity })
  const discord = webAddress(social?.discord)
  if (pending || (user && own.isPending)) return <Skeleton height={860} />
  return (
    <div className="stack">
      {own.data && <OwnTickets tickets={own.data} onMore={() => setLimit(limit + MORE)} />}
      <section id="contact" className={`card ${classes.box}`} aria-labelledby="contact-title">
        <h2 id="contact-title">{t('support.ticket')}</h2>
        <p className="dim">{user ? ownT('hint') : t('support.ticketHint')}</p>
        <TicketForm key={user?.id} user={user} />
      </section>
      {discord && (
        <section className={`card ${classes.box}`} aria-labelledby="community-title">
          <h2 id="community-title">{t('support.community')}</h2>
          <p className="dim">{t('support.communityHint')}</p>
          <Button
            component="a"
            href={discord}
            target="_blank"
            rel="noopener noreferrer"
            variant="default"
            leftSection={<IconBrandDiscord size={19} aria-hidden />}
          >
            {t('support.communityOpen')}
          </Button>
        </section>
      )}
    </div>
  )
}

const FILLED = ['username', 'email', 'phone', 'message'] as const
const check = rules(TicketRules.omit({ captcha: true, captcha_id: true }))

function TicketForm({ user }: { user: CurrentUser | null }) {
  const t = useT()
  const captcha = useCaptcha(true)
  const form = useForm({
    initialValues: {
      username: user?.username ?? '',
      email: user?.email ?? '',
      phone: '',
      message: '',
      captcha: ''
    },
    validate: values => ({
      ...check(values),
      // The message for empty fields concerns the whole form.
      ...Object.fromEntries(
        FILLED.filter(name => !values[name].trim()).map(name => [
          name,
          rememberSentence(t('support.fillIn'), () => word('support.fillIn'))
        ])
      ),
      ...(/^-?\d{1,6}$/.test(values.captcha.trim()) ? {} : { captcha: formMessage('solve_captcha') })
    })
  })
  const failure = useFormFailure(form, { captcha_id: 'captcha' })
  const send = useMutation({
    mutationFn: ({ captcha: answer, ...ticket }: typeof form.values) =>
      call(support.createTicket, { body: { ...ticket, captcha: Number(answer), captcha_id: captcha.id ?? '' } }),
    onSuccess: () => {
      notify('good', t('support.sent'))
      form.reset()
      void refresh(support.ownTickets)
    },
    onError: error => {
      form.setFieldValue('captcha', '')
      failure.refused(error)
    },
    // Each picture is valid once, whatever the result.
    onSettled: captcha.renew
  })
  const incomplete = FILLED.some(name => !form.values[name].trim())
  return (
    <form
      className="stack"
      noValidate
      onChange={failure.onChange}
      onSubmit={form.onSubmit(
        values => send.mutate(values),
        errors => failure.invalid(errors, incomplete ? () => formMessage('fill_out_form') : undefined)
      )}
    >
      <TextInput label={t('support.name')} autoComplete="username" maxLength={64} {...form.getInputProps('username')} />
      <TextInput label={t('email')} type="email" autoComplete="email" {...form.getInputProps('email')} />
      <TextInput
        label={t('support.phone')}
        type="tel"
        autoComplete="tel"
        maxLength={32}
        {...form.getInputProps('phone')}
      />
      <Textarea label={t('support.message')} rows={5} maxLength={5000} {...form.getInputProps('message')} />
      <CaptchaField captcha={captcha} {...form.getInputProps('captcha')} />
      {failure.alert}
      <Button type="submit" loading={send.isPending}>
        {t('support.submit')}
      </Button>
    </form>
  )
}
