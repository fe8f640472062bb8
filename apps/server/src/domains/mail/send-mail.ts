import type { MailKind, Settings } from '@netlet/contract'
import { createMailer, type MailerOptions, type MailResult } from '../../integrations/mail/index.ts'
import type { Config } from '../../infra/config.ts'
import { HOUR, MINUTE, SECOND } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { URGENT, queue } from '../../infra/jobs.ts'
import type { AppContext } from '../../infra/context.ts'
import { readSettings } from '../settings/index.ts'
import { blockAddresses, blockOf } from './blocked-addresses.ts'
import { readChoices } from './choices.ts'
import { claimMail, FORGOTTEN, recordMail, recordPutOff, recordUncertain, type MailFailure } from './record.ts'
import { type MailRequest, type RenderedRequest, renderRequest } from './render-mail.ts'
import type { MailTemplate } from './templates/define.ts'
import { TEMPLATES, type Template } from './templates/index.ts'
import { optionalKind, unsubscribeHeaders } from './layout.ts'

/** Not urgent: users cause any number of notices about themselves, and do not wait for them. */
const BY_KIND: Record<MailKind, number> = { security: 6, payments: 5, proxies: 5, operator: 5, support: 5, expiry: 0 }

/** After mails about one person's matter, before reminders, for every kind. */
const TO_MANY = 1

/** Codes first: they expire within minutes and people wait for them. Mass mails last. */
export function priorityOf({ template, data }: { template: Template; data: object }): number {
  if ('sealed_code' in data) return URGENT + 10
  const { kind, many }: Pick<MailTemplate<never>, 'kind' | 'many'> = TEMPLATES[template]
  return many ? TO_MANY : BY_KIND[kind]
}

/** Jobs of sent mails are deleted after minutes, because they contain names and addresses. */
export const sendMailQueue = queue<MailRequest>('send-mail', { deleteAfterSeconds: 300 })

/** The host of a deleted user's address. Nothing is sent there. */
export const DELETED_HOST = 'deleted.invalid'

/**
 * Sends a mail if, and only if, the command commits, unless its key was sent before or the recipient has switched off
 * its kind.
 */
export function enqueueMail<T extends Template>(unit: Unit, request: MailRequest<T>): void {
  unit.jobs.send(sendMailQueue, request, { key: request.key, priority: priorityOf(request) })
}

/**
 * Renders a mail and passes it to the service, once for its key. If the process dies between the service's answer and
 * our record, the mail is sent twice with the same Message-ID; no service can exclude that.
 * @throws if a retry may help
 */
export async function sendMail(ctx: AppContext, request: MailRequest, jobId: string): Promise<void> {
  const { log } = ctx
  const { key, to, template, language = 'en' } = request
  const {
    kind,
    unnamed,
    unsubscribe
  }: Pick<MailTemplate<never>, 'kind' | 'unnamed' | 'unsubscribe'> = TEMPLATES[template]
  const about = { mail: key, template }
  const named = unnamed ? FORGOTTEN : to
  const claimed = await claimMail(ctx, { key, to: named, template, kind, language }, jobId)
  if (!claimed) return log.info(about, 'email not sent again')
  const { id, createdAt, tries } = claimed
  const needless = await whyUnneeded(ctx, request, { kind, canEnd: unsubscribe !== undefined })
  if (needless) {
    await recordMail(ctx, id, { state: 'skipped', failure: needless })
    return log.info({ ...about, reason: needless.code }, 'email skipped')
  }
  const rendered = await renderRequest(ctx, request, kind)
  const content = { ...rendered.kept, username: 'username' in request.data ? request.data.username : null }
  const sent = await passToService(ctx, request, rendered)
  if (sent.ok) {
    const carried = hasSecrets(request) ? undefined : request
    await recordMail(ctx, id, { state: 'sent', providerId: sent.id, content, carried })
    return log.info(about, 'email sent')
  }
  const failure: MailFailure = { code: sent.reason, sentence: sent.message }
  if (sent.uncertain && (await sendLater(ctx, { id, to: named }, request, failure))) return
  const since = Math.max(createdAt.getTime(), request.again_at ? Date.parse(request.again_at) : 0)
  const isOld = ctx.now().getTime() - since > TRY_FOR
  if (sent.retryAfterMs && !isOld)
    return putOff(ctx, { id, to: named }, { request, failure, waitMs: Math.max(sent.retryAfterMs, pauseAfter(tries)) })
  // An administrator can fix a wrong key or a missing setting, but not a refused recipient.
  const final = sent.uncertain || sent.reason === 'rejected' || isOld
  await recordMail(ctx, id, {
    state: final ? 'failed' : 'waiting',
    failure,
    ...(final ? { carried: request, content } : {})
  })
  if (!final) throw new Error(`Email not sent. ${sent.message}`)
  if (sent.noMailbox) await blockUnknown(ctx, to, sent.message)
  log.error({ ...about, reason: sent.message }, 'email failed permanently')
}

/** Codes and personal links are sealed and expire. A copy would be useless, or reveal them to others. */
const hasSecrets = ({ data }: Pick<MailRequest, 'data'>): boolean =>
  Object.keys(data).some(name => name.startsWith('sealed_'))

/** Direct SMTP: the recipient's server reports an unknown mailbox, because no mail service would. */
const blockUnknown = (ctx: AppContext, address: string, reason: string): Promise<void> =>
  command(ctx, SYSTEM, unit =>
    blockAddresses(unit, [{ address, cause: 'bounced', reason, at: ctx.now(), source: 'smtp' }])
  )

/** A little less than all of the queue's retries take, so that the last one can record the failure. */
const TRY_FOR = 22 * HOUR

/**
 * The service may have the mail, so it is retried rarely and after long pauses: each retry may be a duplicate.
 * @returns false after enough tries
 */
function sendLater(
  ctx: AppContext,
  mail: { id: number; to: string },
  request: MailRequest,
  failure: MailFailure
): Promise<boolean> {
  return command(ctx, SYSTEM, async unit => {
    const startIn = await recordUncertain(unit, mail, failure)
    if (startIn !== null)
      unit.jobs.send(sendMailQueue, request, { key: request.key, priority: priorityOf(request), startIn })
    return startIn !== null
  })
}

/** The longest pause that we accept from a service. */
const MOST_AWAY = HOUR

/** The shortest pause, growing with each try, even if the service allows a retry in a second. */
const pauseAfter = (tries: number): number => Math.min(5 * SECOND * 2 ** (tries - 1), 10 * MINUTE)

/** The service asks us to retry later. These tries do not count as failures. */
async function putOff(
  ctx: AppContext,
  mail: { id: number; to: string },
  { request, failure, waitMs }: { request: MailRequest; failure: MailFailure; waitMs: number }
): Promise<void> {
  const startIn = Math.min(waitMs, MOST_AWAY)
  await command(ctx, SYSTEM, async unit => {
    if (!(await recordPutOff(unit, mail, failure))) return
    unit.jobs.send(sendMailQueue, request, { key: request.key, priority: priorityOf(request), startIn })
  })
  ctx.log.info(
    { mail: request.key, template: request.template, seconds: startIn / 1000 },
    'email postponed by the service'
  )
}

const NO_SUCH_ADDRESS: MailFailure = { code: 'no_such_address', sentence: 'the address does not exist' }
const BOUNCED: MailFailure = { code: 'bounced', sentence: 'the address accepts no email' }
const COMPLAINED: MailFailure = { code: 'complained', sentence: 'its owner reported our email as spam' }
const SWITCHED_OFF: MailFailure = { code: 'switched_off', sentence: 'turned off by its recipient' }

/**
 * Why a mail is no longer needed; null if it is. @param mail `canEnd`: the recipient can end such mails without choices
 */
async function whyUnneeded(
  ctx: AppContext,
  { to, data }: MailRequest,
  { kind, canEnd }: { kind: MailKind; canEnd: boolean }
): Promise<MailFailure | null> {
  if ('sealed_code' in data && Date.parse(data.expires_at) <= ctx.now().getTime())
    return { code: 'code_expired', sentence: 'its code expired while it waited' }
  // RFC 2606: such addresses do not exist. Deleted users have one.
  if (/\.invalid$/i.test(to)) return NO_SUCH_ADDRESS
  const optional = optionalKind(kind)
  const blocked = await blockOf(ctx.db, to)
  if (blocked === 'bounced') return BOUNCED
  if (blocked && (optional || canEnd)) return COMPLAINED
  return optional && !(await readChoices(ctx.db, to))[optional] ? SWITCHED_OFF : null
}

/** Passes a mail to the service in the settings. */
export async function passToService(
  ctx: AppContext,
  request: Pick<MailRequest, 'to' | 'key'>,
  { sent, oneClick }: Pick<RenderedRequest, 'sent' | 'oneClick'>
): Promise<MailResult> {
  const { config, secrets } = ctx
  const settings = await readSettings(ctx.db, secrets)
  const mailer = createMailer(mailerOptions(settings, config))
  return mailer.send({
    ...sent,
    to: request.to,
    from: senderOf(settings, config),
    idempotencyKey: request.key,
    headers: oneClick ? unsubscribeHeaders(oneClick) : {}
  })
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

/** Does the chosen mail service have all its settings? Only sending shows whether it works. */
export function mailIsSetUp(settings: Settings, config: Pick<Config, 'smtpUrl'>): boolean {
  switch (settings.email_method) {
    case 'sendgrid':
      return settings.sendgrid_api_key !== ''
    case 'mailgun':
      return settings.mailgun_api_key !== '' && settings.mailgun_sender_domain !== ''
    case 'smtp':
      return config.smtpUrl !== undefined
  }
}

/** `smtps://user:password@host:465` or `smtp://host:587`. Without one the mailer reports what is missing. */
function smtpOptions(smtpUrl: string | undefined): MailerOptions {
  if (!smtpUrl) return { method: 'smtp', host: '', port: 0 }
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

/** The sender of mails: an address, or `Name <address>`. */
export const senderOf = (settings: Settings, config: Pick<Config, 'publicUrl'>): string =>
  settings.email_from ||
  `${settings.shop_name} <no-reply@${settings.mailgun_sender_domain || new URL(config.publicUrl).hostname}>`
