import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { answerWrongly } from '../hooks/catcher.ts'
import { formOf, html, type Html, nothing, page, sendPage } from '../kit/http.ts'
import { type Happened, HAPPENED, type Outbox, type OutboxMail, type Reporter } from './reports.ts'

const Address = z.object({ email: z.string().min(3), name: z.string().nullish() })
const SendgridMail = z.object({
  personalizations: z.array(z.object({ to: z.array(Address).min(1) })).min(1),
  from: Address,
  subject: z.string().min(1),
  content: z.array(z.object({ type: z.string(), value: z.string().min(1) })).min(1),
  custom_args: z.record(z.string(), z.string()).optional()
})
const STATUSES = [400, 401, 429, 500, 503] as const
/** `html` is a proxy's page with 200. `half` and `silence` accept the mail, with half an answer or none. */
const KINDS = ['html', 'half', 'silence'] as const
type Fault = z.infer<typeof FaultBody>
const ReportBody = z.object({ happened: z.enum(HAPPENED) })
const FaultBody = z.object({
  status: z.literal(STATUSES).optional(),
  kind: z.enum(KINDS).optional(),
  /** Seconds, with 429. */
  retry_after: z.number().int().min(1).max(86_400).optional(),
  next: z.number().int().min(0).max(100).default(1)
})

/** The send routes of both mail services, the outbox with accepted mails, and the reports about them. */
export function outboxRoutes(app: FastifyInstance, outbox: Outbox, report: Reporter): void {
  let fault: Fault | null = null
  const takeFault = (): Fault | null => {
    if (!fault || fault.next <= 0) return null
    fault.next--
    return fault
  }
  /** Answers with the fault, or with `body` and its status. */
  const answerFault = (reply: FastifyReply, { status = 500, kind, retry_after }: Fault, body: object) => {
    if (kind === 'html') return reply.type('text/html').send('<html><title>Something is in the way</title></html>')
    if (retry_after !== undefined) void reply.header('retry-after', String(retry_after))
    return reply.code(status).send(body)
  }

  app.post('/v3/mail/send', async (request, reply) => {
    const met = takeFault()
    const isTaken = met?.kind === 'half' || met?.kind === 'silence'
    if (met && !isTaken)
      return answerFault(reply, met, { errors: [{ message: 'a fault that was asked for', field: null }] })
    if (!/^Bearer \S+$/.test(request.headers.authorization ?? ''))
      return reply
        .code(401)
        .send({ errors: [{ message: 'The provided authorization grant is invalid, expired, or revoked' }] })
    const body = SendgridMail.safeParse(request.body)
    if (!body.success) {
      const [issue] = body.error.issues
      return reply.code(400).send({ errors: [{ message: issue?.message, field: issue?.path.join('.') }] })
    }
    const { personalizations, from, subject, content, custom_args } = body.data
    const part = (type: string) => content.find(one => one.type === type)?.value ?? ''
    let id = ''
    for (const to of personalizations.flatMap(one => one.to))
      id = await outbox.add({
        to: to.email,
        from: from.name ? `${from.name} <${from.email}>` : from.email,
        subject,
        text: part('text/plain'),
        html: part('text/html'),
        idempotency_key: custom_args?.idempotency_key ?? null,
        service: 'sendgrid'
      })
    if (isTaken) return answerWrongly(reply, met.kind === 'half' ? 'half' : 'silence')
    return reply.code(202).header('x-message-id', id).send()
  })

  app.post<{ Params: { domain: string } }>('/v3/:domain/messages', async (request, reply) => {
    const met = takeFault()
    const isTaken = met?.kind === 'half' || met?.kind === 'silence'
    if (met && !isTaken) return answerFault(reply, met, { message: 'a fault that was asked for' })
    if (!/^Basic \S+$/.test(request.headers.authorization ?? ''))
      return reply.code(401).type('text/plain').send('Forbidden')
    const form = request.body
    const field = (name: string): string => {
      const value = form instanceof FormData || form instanceof URLSearchParams ? form.get(name) : null
      return typeof value === 'string' ? value : ''
    }
    for (const name of ['from', 'to'])
      if (field(name) === '') return reply.code(400).send({ message: `'${name}' parameter is missing` })
    if (field('text') === '' && field('html') === '')
      return reply.code(400).send({ message: "Need at least one of 'text' or 'html' parameters specified" })
    const id = await outbox.add({
      to: field('to'),
      from: field('from'),
      subject: field('subject'),
      text: field('text'),
      html: field('html'),
      idempotency_key: field('v:idempotency_key') || null,
      service: 'mailgun'
    })
    if (isTaken) return answerWrongly(reply, met.kind === 'half' ? 'half' : 'silence')
    return { id: `<${id}@${request.params.domain}>`, message: 'Queued. Thank you.' }
  })

  app.get('/outbox', async (_request, reply) => sendPage(reply, outboxPage(outbox.list())))
  app.get('/outbox.json', async (_request, reply) => reply.header('cache-control', 'no-store').send(outbox.list()))
  app.delete('/outbox.json', async (_request, reply) => {
    await outbox.clear()
    return reply.code(204).send()
  })

  app.get<{ Params: { id: string } }>('/outbox/:id', async (request, reply) => {
    const mail = outbox.find(request.params.id)
    return mail ? sendPage(reply, mailPage(mail)) : reply.code(404).send({ error: 'no such mail' })
  })

  // A separate document, so that the page can show it in a frame without scripts, forms or our origin.
  app.get<{ Params: { id: string } }>('/outbox/:id/html', async (request, reply) => {
    const mail = outbox.find(request.params.id)
    if (!mail) return reply.code(404).send({ error: 'no such mail' })
    return reply
      .header(
        'content-security-policy',
        "sandbox allow-popups; default-src 'none'; style-src 'unsafe-inline'; img-src * data:"
      )
      .type('text/html; charset=utf-8')
      .send(mail.html)
  })

  // Reports an event of an accepted mail to the shop, in the format of the real service.
  app.post<{ Params: { id: string } }>('/outbox/:id/report', async (request, reply) => {
    const mail = outbox.find(request.params.id)
    if (!mail) return reply.code(404).send({ error: 'no such mail' })
    const { happened } = ReportBody.parse(Object.fromEntries(formOf(request.body)))
    const status = await report(mail, happened)
    return sendPage(reply, mailPage(mail, { happened, status }))
  })
  app.get('/sandbox/mail/webhook_key', async () => ({ public_key: report.publicKey }))

  app.post('/sandbox/mail/faults', async request => {
    fault = FaultBody.parse(request.body)
    return { fault }
  })
}

const NOTICE = 'Sent mail. Nothing here has left this machine.'
const day = (mail: OutboxMail) => mail.sent_at.slice(0, 10)
const time = (mail: OutboxMail) => `${mail.sent_at.slice(11, 19)} UTC`

function outboxPage(mails: readonly OutboxMail[]): string {
  const empty = html`<div class="card">
    <p>No mail yet. Sign up in the shop, or ask it for a code, and the mail shows here.</p>
  </div>`
  return page(
    'Outbox',
    NOTICE,
    html`<h1>Outbox</h1>
      ${
        mails.length === 0
          ? empty
          : html`<div class="card">
              <table>
                <tbody>
                  ${mails.map(
                    mail =>
                      html`<tr>
                        <td>
                          <a href="/outbox/${mail.id}">${mail.subject === '' ? '(no subject)' : mail.subject}</a
                          ><br /><span class="quiet small">to ${mail.to}</span>
                        </td>
                        <td class="quiet small">${day(mail)}<br />${time(mail)}</td>
                      </tr>`
                  )}
                </tbody>
              </table>
            </div>`
      }`
  )
}

type Reported = { happened: Happened; status: number | null }

const WORDS: Record<Happened, string> = {
  bounced: 'It came back: no such mailbox',
  blocked: 'Its server refused this one mail',
  deferred: 'Its server wants it later',
  complained: 'Its reader calls it spam'
}

function mailPage(mail: OutboxMail, reported?: Reported): string {
  return page(
    mail.subject,
    NOTICE,
    html`<p><a href="/outbox">All mail</a></p>
      <h1>${mail.subject}</h1>
      <p class="quiet small">From ${mail.from}<br />To ${mail.to}<br />${day(mail)} ${time(mail)}</p>
      ${
        mail.html === ''
          ? nothing
          : html`<section class="card" aria-labelledby="html">
              <h2 id="html">As HTML</h2>
              <iframe
                class="mail"
                title="The mail as HTML"
                sandbox="allow-popups"
                src="/outbox/${mail.id}/html"
              ></iframe>
            </section>`
      }
      <section class="card" aria-labelledby="report">
        <h2 id="report">What becomes of it</h2>
        <p class="quiet small">The mail service tells the shop, signed, as the real one does.</p>
        ${reported ? outcome(reported) : nothing}
        <form method="post" action="/outbox/${mail.id}/report">
          ${HAPPENED.map(happened => html`<button name="happened" value="${happened}">${WORDS[happened]}</button>`)}
        </form>
      </section>
      <section class="card" aria-labelledby="text">
        <h2 id="text">As text</h2>
        <pre>${mail.text}</pre>
      </section>`
  )
}

const outcome = ({ happened, status }: Reported): Html =>
  status === 200
    ? html`<p class="note" role="status">Told the shop: ${WORDS[happened]}.</p>`
    : html`<p class="bad" role="status">
        ${status === null ? 'The shop did not answer.' : `The shop refused the report (HTTP ${status}).`}
      </p>`
