import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'

const Posted = z.object({
  personalizations: z.tuple([z.object({ to: z.tuple([z.object({ email: z.string() })]) })]),
  subject: z.string(),
  content: z.array(z.object({ type: z.string(), value: z.string() })),
  headers: z.record(z.string(), z.string()).default({})
})

export type TestMail = { to: string; subject: string; text: string; html: string; headers: Record<string, string> }

export type TestOutbox = {
  /** The address of the mail service's API. */
  url: string
  /** Everything sent so far, oldest first. */
  mails: TestMail[]
  /** How many of the next replies fail with this status. */
  fail(status: number, times: number, body?: object | string, headers?: Record<string, string>): void
  /** The next mails are accepted, but after `meanwhile` the connection ends without a reply. */
  cut(times: number, meanwhile?: () => Promise<unknown>): void
  /** Sets the function that runs the mail jobs during a wait. */
  drainWith(drain: () => Promise<unknown>): void
  /** Waits until `count` mails to this address have arrived and returns them, oldest first. */
  waitFor(to: string, count?: number): Promise<TestMail[]>
  close(): Promise<void>
}

export async function startTestOutbox(): Promise<TestOutbox> {
  const mails: TestMail[] = []
  let failure: { status: number; times: number; body: string; headers: Record<string, string> } = {
    status: 0,
    times: 0,
    body: '',
    headers: {}
  }
  let cuts = 0
  let drain = async (): Promise<unknown> => undefined
  let beforeCut = async (): Promise<unknown> => undefined
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (failure.times > 0) {
        failure.times -= 1
        response.writeHead(failure.status, failure.headers).end(failure.body)
        return
      }
      const mail = Posted.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')))
      mails.push({
        to: mail.personalizations[0].to[0].email,
        subject: mail.subject,
        text: mail.content.find(part => part.type === 'text/plain')?.value ?? '',
        html: mail.content.find(part => part.type === 'text/html')?.value ?? '',
        headers: mail.headers
      })
      if (cuts-- > 0) return void beforeCut().finally(() => request.socket.destroy())
      response.writeHead(202, { 'x-message-id': String(mails.length) }).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mails,
    fail(status, times, body = '', headers = {}) {
      failure = { status, times, headers, body: typeof body === 'string' ? body : JSON.stringify(body) }
    },
    cut(times, meanwhile = async () => undefined) {
      cuts = times
      beforeCut = meanwhile
    },
    drainWith(run) {
      drain = run
    },
    async waitFor(to, count = 1) {
      const deadline = Date.now() + 30_000
      for (;;) {
        await drain()
        const found = mails.filter(mail => mail.to === to)
        if (found.length >= count) return found
        if (Date.now() > deadline) throw new Error(`${found.length} of ${count} mails to ${to} arrived`)
        await sleep(20)
      }
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}
