import { z } from 'zod'
import { message } from './form-messages.ts'
import { LANGUAGES } from './languages.ts'
import { listQuery, page } from './list.ts'
import {
  MAX_NOTICE_CHANNELS,
  MAX_STOCK_LEVELS,
  NOTICE_CAUSE_NAMES,
  NOTICE_CAUSES,
  NOTICE_CHANNELS,
  NOTICE_FAILURES,
  NOTICE_SEND_STATES,
  NOTICE_SEVERITIES,
  NOTICE_TELLINGS,
  thresholdOf,
  type NoticeCause
} from './notice-causes.ts'
import { route } from './route.ts'
import { Done, formVersion, Id, IdName, IdParams, storable, text, Time, isPostTarget, TimeZone } from './shapes.ts'
import { MAIL_STATES } from './states.ts'

const yesNo = z.boolean({ error: message('must_be_yes_or_no') })
const clock = (wrong = message('enter_clock')) => z.string({ error: wrong }).regex(/^([01]\d|2[0-3]):[0-5]\d$/, wrong)

const whole = (min: number, max: number) => {
  const wrong = message('must_be_whole_number', { min, max })
  return z.int({ error: wrong }).min(min, wrong).max(max, wrong)
}

/** The settings of one cause: whether it is on, its severity, and its threshold (null: none). */
const causeForm = (cause: NoticeCause) => {
  const limits = thresholdOf(cause)
  const { severity } = NOTICE_CAUSES[cause]
  const threshold = limits ? whole(limits.min, limits.max).default(limits.standard) : z.null().default(null)
  return z
    .object({
      enabled: yesNo.default(true),
      severity: z.enum(NOTICE_SEVERITIES, { error: message('must_select') }).default(severity),
      threshold
    })
    .prefault({})
}

export type CauseSetting = { enabled: boolean; severity: (typeof NOTICE_SEVERITIES)[number]; threshold: number | null }

type CauseShape = Record<NoticeCause, z.ZodType<CauseSetting, Partial<CauseSetting> | undefined>>
const causes = Object.fromEntries(NOTICE_CAUSE_NAMES.map(cause => [cause, causeForm(cause)])) as unknown as CauseShape

/** Replaces the cause's threshold for one group and rule; 0: no notice. */
const StockLevel = z.object({ group_id: Id, rule_id: Id, below: whole(0, 1_000_000) })
export type StockLevel = z.infer<typeof StockLevel>

/** When operators are notified of what. */
export const NoticeRules = z.object({
  /** An IANA time zone for quiet hours and the digest. */
  time_zone: TimeZone().default('UTC'),
  /** In these hours only critical notices are sent; the others when they end. */
  quiet_hours: yesNo.default(false),
  quiet_from: clock().default('22:00'),
  quiet_until: clock().default('07:00'),
  /** The hour of the digest. */
  digest_hour: whole(0, 23).default(8),
  /** Hours after which an open notice is sent again; 0: never. */
  repeat_hours: whole(0, 720).default(0),
  causes: z.object(causes).prefault({} as never),
  stock: z
    .array(StockLevel)
    .max(MAX_STOCK_LEVELS, message('at_most_rows', { max: MAX_STOCK_LEVELS }))
    .default([])
})
export type NoticeRules = z.infer<typeof NoticeRules>

/** Known to `Intl`: 'Europe/Berlin', 'UTC'. Not an offset such as '+02:00', which has no summer time. */
export const ShownNoticeRules = NoticeRules.extend({
  stock: z.array(z.object({ group_id: z.number(), rule_id: z.number(), below: z.number() })),
  version: z.string()
})
export type ShownNoticeRules = z.infer<typeof ShownNoticeRules>

const target = z
  .string({ error: message('must_be_web_address') })
  .trim()
  .max(1000, message('at_most_characters', { max: 1000 }))
  .refine(storable, message('forbidden_character'))
  .refine(value => value === '' || isPostTarget(value), message('must_be_web_address'))

/** `whsec_` and base64 of 24 to 64 bytes. */
function isSecret(value: string): boolean {
  const found = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(value)?.[1]
  if (!found || found.length % 4 !== 0) return false
  const bytes = (found.replace(/=+$/, '').length * 3) / 4
  return bytes >= 24 && bytes <= 65
}

/** A channel that notifies operators. */
export const NoticeChannelForm = z.object({
  name: text(message('enter_a_name'), 60),
  /** Cannot be edited later. */
  kind: z.enum(NOTICE_CHANNELS, { error: message('must_select') }).default('mail'),
  /** For `chat` and `webhook`: the URL to post to. Empty in an edit: unchanged. */
  target: target.default(''),
  /** For `webhook`: the signing secret as in Standard Webhooks. Empty in an edit: unchanged. */
  secret: z
    .string({ error: message('must_be_webhook_secret') })
    .trim()
    .refine(value => value === '' || isSecret(value), message('must_be_webhook_secret'))
    .default(''),
  /** For `mail`: the operators who get it; none: all owners and operations. */
  user_ids: z
    .array(Id)
    .max(100, message('too_many_ids'))
    .default([])
    .transform(ids => [...new Set(ids)]),
  /** The language of posts. Mails use the recipient's. */
  language: z.enum(LANGUAGES, { error: message('must_select') }).default('en'),
  /** Severities that are sent at once. */
  tell_critical: yesNo.default(true),
  tell_warning: yesNo.default(true),
  tell_info: yesNo.default(false),
  /** Whether it gets the daily digest of what was not sent at once. */
  digest: yesNo.default(true),
  enabled: yesNo.default(true)
})
export type NoticeChannelForm = z.infer<typeof NoticeChannelForm>

export const NoticeChannel = z.object({
  id: z.number(),
  name: z.string(),
  kind: z.enum(NOTICE_CHANNELS),
  language: z.enum(LANGUAGES),
  /** The host it posts to; null for mail. The rest of the URL is a secret. */
  host: z.string().nullable(),
  user_ids: z.array(IdName),
  tell_critical: z.boolean(),
  tell_warning: z.boolean(),
  tell_info: z.boolean(),
  digest: z.boolean(),
  enabled: z.boolean(),
  last_sent_at: Time.nullable(),
  /** Since when every attempt has failed, and the last failure; null: the last one succeeded, or there was none. */
  failing_since: Time.nullable(),
  failure: z.enum(NOTICE_FAILURES).nullable(),
  created_at: Time,
  version: z.string()
})
export type NoticeChannel = z.infer<typeof NoticeChannel>

const Params = z.record(z.string(), z.union([z.string(), z.number()]))

/** A notice to operators. */
export const Notice = z.object({
  id: z.number(),
  cause: z.enum(NOTICE_CAUSE_NAMES),
  /** The subject as its cause names it: a server's id, an order's number. */
  subject: z.string(),
  severity: z.enum(NOTICE_SEVERITIES),
  /** Its sentence in both languages. */
  title: z.object({ en: z.string(), 'zh-CN': z.string() }),
  text: z.object({ en: z.string(), 'zh-CN': z.string() }),
  params: Params,
  /** The console's path to the rows behind it. */
  path: z.string(),
  /** The number of rows behind it. */
  count: z.number(),
  state: z.enum(['open', 'closed']),
  since: Time,
  /** When a channel last received it; null: never. */
  told_at: Time.nullable(),
  closed_at: Time.nullable(),
  acknowledged_at: Time.nullable(),
  acknowledged_by: z.string().nullable(),
  muted_until: Time.nullable(),
  /** How often each delivery outcome occurred. */
  sends: z.object({ waiting: z.number(), sent: z.number(), failed: z.number(), skipped: z.number() })
})
export type Notice = z.infer<typeof Notice>

/** One notice on its way to one channel. */
export const NoticeSend = z.object({
  id: z.number(),
  channel: z.string(),
  kind: z.enum(NOTICE_CHANNELS),
  telling: z.enum(NOTICE_TELLINGS),
  state: z.enum(NOTICE_SEND_STATES),
  tries: z.number(),
  status: z.number().nullable(),
  failure: z.enum(NOTICE_FAILURES).nullable(),
  /** The system's or receiver's message. */
  detail: z.string().nullable(),
  due_at: Time,
  ended_at: Time.nullable(),
  /** For `mail`: the resulting mails and their states. */
  mails: z.array(z.object({ to: z.string(), state: z.enum(MAIL_STATES) }))
})
export type NoticeSend = z.infer<typeof NoticeSend>

export const NoticeDetail = Notice.extend({ log: z.array(NoticeSend) })
export type NoticeDetail = z.infer<typeof NoticeDetail>

/** Hours of silence; 0: unmute. */
export const MuteNoticeForm = z.object({ hours: whole(0, 720) })

const N = '/api/settings/notices'

export const notices = {
  notices: route('GET', `${N}/`, {
    summary: 'Notices to operators, and the results of sending them',
    access: 'admin',
    permission: 'notices.view',
    query: listQuery({
      sort: ['id'],
      filters: {
        state: z.enum(['open', 'closed', 'failed']).optional(),
        cause: z.enum(NOTICE_CAUSE_NAMES).optional(),
        severity: z.enum(NOTICE_SEVERITIES).optional()
      }
    }),
    reply: page(Notice)
  }),
  notice: route('GET', `${N}/:id/`, {
    summary: 'One notice with its messages',
    access: 'admin',
    permission: 'notices.view',
    params: IdParams,
    reply: NoticeDetail
  }),
  acknowledge: route('POST', `${N}/:id/acknowledge/`, {
    summary: 'Acknowledge a notice; it is sent again only if it gets worse or ends',
    access: 'admin',
    permission: 'notices.change',
    params: IdParams,
    body: z.object({}).optional(),
    reply: Done
  }),
  mute: route('POST', `${N}/:id/mute/`, {
    summary: 'Mute a notice for some hours; 0 unmutes it',
    access: 'admin',
    permission: 'notices.change',
    params: IdParams,
    body: MuteNoticeForm,
    reply: Done
  }),
  rules: route('GET', `${N}/rules/`, {
    summary: 'Notice rules: severity and threshold of each cause, quiet hours and digest',
    access: 'admin',
    permission: 'notices.view',
    reply: ShownNoticeRules
  }),
  saveRules: route('PUT', `${N}/rules/`, {
    summary: 'Set the notice rules',
    access: 'admin',
    permission: 'notices.change',
    body: NoticeRules.extend(formVersion),
    reply: ShownNoticeRules
  }),
  channels: route('GET', `${N}/channels/`, {
    summary: `Notice channels, at most ${MAX_NOTICE_CHANNELS}`,
    access: 'admin',
    permission: 'notices.view',
    query: listQuery({ sort: ['id'] }),
    reply: page(NoticeChannel)
  }),
  createChannel: route('POST', `${N}/channels/`, {
    summary: 'Add a channel',
    access: 'admin',
    permission: 'notices.change',
    needsConfirmation: { asks: form => form.target !== '' || form.secret !== '' },
    body: NoticeChannelForm,
    reply: NoticeChannel
  }),
  updateChannel: route('PUT', `${N}/channels/:id/`, {
    summary: 'Edit a channel, except its kind',
    access: 'admin',
    permission: 'notices.change',
    needsConfirmation: { asks: form => form.target !== '' || form.secret !== '' },
    params: IdParams,
    body: NoticeChannelForm.extend(formVersion),
    reply: NoticeChannel
  }),
  deleteChannel: route('DELETE', `${N}/channels/:id/`, {
    summary: 'Delete a channel; waiting messages are not sent',
    access: 'admin',
    permission: 'notices.change',
    params: IdParams,
    reply: Done
  }),
  testChannel: route('POST', `${N}/channels/:id/test/`, {
    summary: 'Send a test to a channel',
    access: 'admin',
    permission: 'notices.change',
    params: IdParams,
    body: z.object({}).optional(),
    reply: z.object({ send_id: z.number() })
  }),
  send: route('GET', `${N}/sends/:id/`, {
    summary: 'Result of one message to a channel',
    access: 'admin',
    permission: 'notices.view',
    params: IdParams,
    reply: NoticeSend
  })
}
