import { z } from 'zod'
import { message } from './form-messages.ts'
import { queryInt, ReasonParams, Time } from './shapes.ts'

/** Tests of the saved Web Settings. */
export const SETTING_TESTS = ['mail', 'platform', 'chat', 'webhook_secret'] as const
export type SettingTest = (typeof SETTING_TESTS)[number]

/**
 * Results of a test. `platform_answers`: with the saved access token. `platform_granted`: with one obtained by the
 * app's key and secret. `platform_old_orders`: the app cannot see orders older than 60 days. `platform_password`:
 * the Online Store asks visitors for a password. `webhook_unproved`: no
 * webhook has arrived since the secret was saved. `webhook_doubted`: signed ones have arrived, and since then a request
 * with another signature, which anyone can send. `webhook_former`: the last one was signed with a former secret that is
 * still accepted.
 */
export const TEST_OUTCOMES = [
  'not_configured',
  'failed',
  'mail_sent',
  'platform_answers',
  'platform_granted',
  'platform_old_orders',
  'platform_scopes',
  'platform_currency',
  'platform_password',
  'chat_answers',
  'chat_bot_answers',
  'webhook_signed',
  'webhook_doubted',
  'webhook_refused',
  'webhook_former',
  'webhook_unproved'
] as const
export type TestOutcome = (typeof TEST_OUTCOMES)[number]

export const SettingTestForm = z.object({ test: z.enum(SETTING_TESTS, { error: message('must_select') }) })

export const SettingTestResult = z.object({
  ok: z.boolean(),
  outcome: z.enum(TEST_OUTCOMES),
  /** Values for the outcome's sentence: an address, a shop, an instant. */
  params: ReasonParams,
  /** The other side's message, in English. */
  detail: z.string().nullable()
})
export type SettingTestResult = z.infer<typeof SettingTestResult>

export const LOG_SOURCES = ['server', 'task'] as const
export const LOG_LEVELS = ['INFO', 'WARN', 'ERROR', 'FATAL'] as const
export type LogSource = (typeof LOG_SOURCES)[number]
export type LogLevel = (typeof LOG_LEVELS)[number]

export const LogQuery = z.object({
  source: z.enum(LOG_SOURCES, { error: message('must_select') }).default('server'),
  /** Only lines after this id. */
  after_id: queryInt(0, 999_999_999, message('must_be_id')).default(0)
})

/** The latest lines of one log, oldest first. */
export const LogTail = z.object({
  lines: z.array(z.object({ id: z.number(), at: Time, level: z.enum(LOG_LEVELS), line: z.string() }))
})
export type LogTail = z.infer<typeof LogTail>
