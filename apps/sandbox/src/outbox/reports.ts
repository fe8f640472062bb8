import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  randomUUID,
  sign
} from 'node:crypto'
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openStore } from '../kit/store.ts'

/** Events of a mail that the service has accepted. After `deferred` the service retries by itself. */
export const HAPPENED = ['bounced', 'blocked', 'deferred', 'complained'] as const
export type Happened = (typeof HAPPENED)[number]

export const MAILGUN_KEY = 'sandbox-mailgun-webhook-key'

/** Reports a mail's event to the shop. Returns the status of its answer, or null if there was none. */
export type Reporter = {
  (mail: OutboxMail, happened: Happened): Promise<number | null>
  /** As the settings of the event webhook show it: SPKI in base64. */
  publicKey: string
}

type Options = { shopUrl: string; fetch: typeof fetch; now: () => number; privateKey: KeyObject }

export function createReporter({ shopUrl, fetch: request, now, privateKey }: Options): Reporter {
  const report = async (mail: OutboxMail, happened: Happened): Promise<number | null> => {
    const at = Math.floor(now() / 1000)
    const { path, body, headers } =
      mail.service === 'mailgun' ? mailgun(mail, happened, at) : sendgrid(mail, happened, at)
    try {
      const answer = await request(`${shopUrl}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
        signal: AbortSignal.timeout(5000)
      })
      return answer.status
    } catch {
      return null
    }
  }

  function sendgrid(mail: OutboxMail, happened: Happened, at: number) {
    const kinds = {
      bounced: {
        event: 'bounce',
        type: 'bounce',
        status: '5.1.1',
        reason: '550 5.1.1 The email account does not exist.'
      },
      blocked: { event: 'bounce', type: 'blocked', status: '5.7.1', reason: '550 5.7.1 Refused by policy.' },
      deferred: { event: 'deferred', response: '451 Try again later.' },
      complained: { event: 'spamreport' }
    }
    const event = {
      email: mail.to,
      timestamp: at,
      sg_event_id: randomUUID(),
      sg_message_id: mail.id,
      ...(mail.idempotency_key === null ? {} : { idempotency_key: mail.idempotency_key }),
      ...kinds[happened]
    }
    const body = JSON.stringify([event])
    const headers = {
      'x-twilio-email-event-webhook-timestamp': String(at),
      'x-twilio-email-event-webhook-signature': sign('sha256', Buffer.from(`${at}${body}`), privateKey).toString(
        'base64'
      )
    }
    return { path: '/api/mail/sendgrid_events', body, headers }
  }

  return Object.assign(report, {
    publicKey: createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64')
  })
}

function mailgun(mail: OutboxMail, happened: Happened, at: number) {
  const failure = (severity: string, reason: string, code: number, message: string) => ({
    event: 'failed',
    severity,
    reason,
    'delivery-status': { code, message }
  })
  const kinds = {
    bounced: failure('permanent', 'bounce', 550, '5.1.1 The email account does not exist.'),
    blocked: failure('permanent', 'generic', 550, '5.7.1 Refused by policy.'),
    deferred: failure('temporary', 'generic', 451, 'Try again later.'),
    complained: { event: 'complained' }
  }
  const token = randomBytes(25).toString('hex')
  const body = JSON.stringify({
    signature: {
      timestamp: String(at),
      token,
      signature: createHmac('sha256', MAILGUN_KEY).update(`${at}${token}`).digest('hex')
    },
    'event-data': {
      id: randomUUID(),
      timestamp: at,
      recipient: mail.to,
      'user-variables': mail.idempotency_key === null ? {} : { idempotency_key: mail.idempotency_key },
      ...kinds[happened]
    }
  })
  return { path: '/api/mail/mailgun_events', body, headers: {} }
}

/**
 * The key that signs the reports of the stand-in's mail service, in a file that only its owner can read. It survives
 * restarts, because the shop's settings contain its public key.
 */
export async function openReportKey(dir: string): Promise<KeyObject> {
  const file = join(dir, 'mail-report-key.pem')
  try {
    return createPrivateKey(await readFile(file))
  } catch {
    // Missing, or someone edited it.
  }
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  await writeFile(`${file}.new`, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  // `mode` applies only if the write creates the file.
  await chmod(`${file}.new`, 0o600)
  await rename(`${file}.new`, file)
  return privateKey
}

export type OutboxMail = {
  id: string
  to: string
  from: string
  subject: string
  text: string
  html: string
  sent_at: string
  idempotency_key: string | null
  service: 'sendgrid' | 'mailgun'
}

const MAX_KEPT = 500

/** The last 500 mails, newest first, kept across restarts. */
export async function openOutbox(dir: string, now: () => number) {
  const store = await openStore<{ version: 1; mails: OutboxMail[] }>(join(dir, 'outbox.json'), () => ({
    version: 1,
    mails: []
  }))
  return {
    list: () => store.data.mails,
    find: (id: string) => store.data.mails.find(mail => mail.id === id),
    async add(mail: Omit<OutboxMail, 'id' | 'sent_at'>): Promise<string> {
      const id = randomUUID()
      store.data.mails = [{ ...mail, id, sent_at: new Date(now()).toISOString() }, ...store.data.mails].slice(
        0,
        MAX_KEPT
      )
      await store.save()
      return id
    },
    async clear(): Promise<void> {
      store.data.mails = []
      await store.save()
    }
  }
}

export type Outbox = Awaited<ReturnType<typeof openOutbox>>
