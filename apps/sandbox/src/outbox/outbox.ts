import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { openStore } from '../kit/store.ts'

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
