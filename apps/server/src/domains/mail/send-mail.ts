import type { Language, Settings } from '@netlet/contract'
import { createMailer, type MailerOptions } from '../../integrations/mail/index.ts'
import type { Config } from '../../infra/config.ts'
import type { Unit } from '../../infra/command.ts'
import { queue } from '../../infra/jobs.ts'
import type { AppContext } from '../../infra/context.ts'
import { readSettings } from '../settings/index.ts'
import { renderTemplate, type Template, type TemplateData } from './templates/index.ts'

export type MailOrder<T extends Template = Template> = {
  to: string
  template: T
  data: TemplateData<T>
  /** By default English. */
  language?: Language
  /** Names the cause, such as 'reminder:42:2026-11-21': two mails waiting with the same key are one. */
  key: string
}

/** Sent mail leaves the job table after minutes: it holds names and addresses. */
export const sendMailQueue = queue<MailOrder>('send-mail', { deleteAfterSeconds: 300 })

/** The host of the address that somebody has who was deleted: nothing is sent there. */
export const DELETED_HOST = 'deleted.invalid'

/** Sends a mail if, and only if, the command commits. */
export function enqueueMail<T extends Template>(unit: Unit, order: MailOrder<T>): void {
  if (order.to.endsWith(`@${DELETED_HOST}`)) return
  unit.jobs.send(sendMailQueue, order, { key: order.key })
}

/** Fills the template and hands the mail to the service. */
export async function sendMail(ctx: AppContext, order: MailOrder): Promise<void> {
  const { config, log } = ctx
  const now = ctx.now()
  if ('sealed_code' in order.data && Date.parse(order.data.expires_at) <= now.getTime()) {
    log.warn({ mail: order.key, template: order.template }, 'mail dropped: its code expired while it waited')
    return
  }
  const settings = await readSettings(ctx.db, ctx.secrets)
  const rendered = await renderTemplate(order.template, order.data, {
    language: order.language ?? 'en',
    shopUrl: config.publicUrl,
    now,
    open: sealed => ctx.secrets.open(Buffer.from(sealed, 'base64'))
  })
  const mailer = createMailer(mailerOptions(settings, config))
  const sent = await mailer.send({
    ...rendered,
    to: order.to,
    from: settings.email_from || defaultSender(settings, config),
    idempotencyKey: order.key
  })
  if (sent.ok) return log.info({ mail: order.key, template: order.template }, 'mail sent')
  // A wrong key or a missing setting can be corrected by an administrator; a refused recipient cannot.
  if (sent.reason !== 'rejected') throw new Error(`Mail not sent. ${sent.message}`)
  log.error({ mail: order.key, template: order.template, reason: sent.message }, 'mail refused for good')
}

function mailerOptions(settings: Settings, config: Config): MailerOptions {
  switch (settings.email_method) {
    case 'sendgrid':
      return { method: 'sendgrid', apiKey: settings.sendgrid_api_key, baseUrl: config.sendgridUrl }
    case 'mailgun':
      return {
        method: 'mailgun',
        apiKey: settings.mailgun_api_key,
        domain: settings.mailgun_sender_domain,
        baseUrl: config.mailgunUrl
      }
    case 'smtp':
      return smtpOptions(config.smtpUrl)
  }
}

/** `smtps://user:password@host:465` or `smtp://host:587`. Without one the mailer says what is missing. */
function smtpOptions(smtpUrl: string | undefined): MailerOptions {
  if (!smtpUrl || !URL.canParse(smtpUrl)) return { method: 'smtp', host: '', port: 0 }
  const url = new URL(smtpUrl)
  const secure = url.protocol === 'smtps:'
  return {
    method: 'smtp',
    host: url.hostname,
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password)
  }
}

const defaultSender = (settings: Settings, config: Config): string =>
  `Netlet <no-reply@${settings.mailgun_sender_domain || new URL(config.publicUrl).hostname}>`
