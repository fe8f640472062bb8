import type { Language, SenderCheck, Settings } from '@netlet/contract'
import { type MailResult, checkSenderDomain, parseFrom } from '../../integrations/mail/index.ts'
import type { AppContext } from '../../infra/context.ts'
import { readSettings } from '../settings/index.ts'
import { passToService, senderOf } from './send-mail.ts'
import { randomUUID } from 'node:crypto'
import { renderRequest } from './render-mail.ts'

/** Sends a test mail at once, without the queue and the log of mails. @returns the service's answer */
export async function sendTestMail(
  ctx: AppContext,
  { to, language }: { to: string; language: Language }
): Promise<MailResult> {
  const data = { at: ctx.now().toISOString() }
  const request = { to, language, template: 'test-mail', data, key: `test:${randomUUID()}` } as const
  return passToService(ctx, request, await renderRequest(ctx, request, 'operator'))
}

/** What each service tells its customers to publish. */
type Service = { include: string | null; selectors: readonly string[]; delegate?: string }
const SERVICES: Record<Settings['email_method'], Service> = {
  // With automated security the keys' names lead to it, and so does the return path below the domain.
  sendgrid: { include: 'sendgrid.net', selectors: ['s1', 's2', 'smtpapi'], delegate: 'sendgrid.net' },
  mailgun: { include: 'mailgun.org', selectors: ['smtp', 'mta', 'k1', 'krs', 'pic', 'mailo', 'mx', 'email'] },
  // An own server's selectors are unknown, so we try the usual names.
  smtp: { include: null, selectors: ['default', 'mail', 'dkim', 'selector1', 'selector2', 'google', 'k1', 's1'] }
}

/** Will others accept mail from the domain of the saved settings? */
export async function checkSender({ db, secrets, config }: AppContext): Promise<SenderCheck> {
  const settings = await readSettings(db, secrets)
  const { include, selectors, delegate = null } = SERVICES[settings.email_method]
  const domain = parseFrom(senderOf(settings, config)).email.split('@')[1]?.toLowerCase() ?? ''
  const own = settings.email_dkim_selector
  const found = await checkSenderDomain(domain, {
    include,
    delegate,
    selectors: own === '' ? selectors : [own],
    servers: config.dnsServers
  })
  return { ...found, include }
}
