import { sendWithMailgun, sendWithSendgrid } from './http-senders.ts'
import { type Mail, type MailResult, failed } from './mail.ts'
import { sendWithSmtp } from './smtp-sender.ts'

export type MailerOptions = (
  | { method: 'sendgrid'; apiKey: string; baseUrl?: string }
  | { method: 'mailgun'; apiKey: string; domain: string; baseUrl?: string }
  | { method: 'smtp'; host: string; port: number; secure?: boolean; username?: string; password?: string }
) & {
  fetch?: typeof fetch
  /** For one exchange over HTTP, or one reply over SMTP. Default 15 s. */
  timeoutMs?: number
}

// One mailbox, without lists and line breaks, so that form input cannot add recipients or headers.
const mailbox = /^[^\s,;<>@"]{1,64}@[^\s,;<>@"]{1,255}$/

/**
 * Sends mail by the chosen method. `send` returns failures; the calling job retries if `retryable`. A retry with the
 * same idempotencyKey has the same Message-ID, so that mailboxes can drop duplicates.
 */
export function createMailer(options: MailerOptions) {
  const limits = { fetch: options.fetch ?? fetch, timeoutMs: options.timeoutMs ?? 15_000 }
  return {
    async send(mail: Mail): Promise<MailResult> {
      if (!mailbox.test(mail.to)) return failed('rejected', 'The recipient must be a single email address.')
      switch (options.method) {
        case 'sendgrid':
          return sendWithSendgrid(mail, options, limits)
        case 'mailgun':
          return sendWithMailgun(mail, options, limits)
        case 'smtp':
          return sendWithSmtp(mail, options, limits)
      }
    }
  }
}
