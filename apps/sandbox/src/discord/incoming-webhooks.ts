import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { html, type Html, page, sendPage } from '../kit/http.ts'

/** The platform requires content or embeds, and limits both. */
const Message = z
  .object({
    content: z.string().max(2000).default(''),
    embeds: z
      .array(
        z.object({
          title: z.string().max(256).optional(),
          description: z.string().max(4096).optional(),
          url: z.url().optional(),
          color: z.number().int().min(0).max(0xffffff).optional(),
          timestamp: z.iso.datetime({ offset: true }).optional()
        })
      )
      .max(10)
      .default([]),
    allowed_mentions: z.object({ parse: z.array(z.enum(['roles', 'users', 'everyone'])) }).optional()
  })
  .refine(({ content, embeds }) => content !== '' || embeds.length > 0)
type Message = z.infer<typeof Message>

const FAULTS = ['busy', 'error500', 'html', 'half', 'silence', 'gone'] as const
const FaultBody = z.object({ kind: z.enum([...FAULTS, 'none']), next: z.number().int().min(0).max(100).default(1) })

/** The only webhook. Others are unknown, as on the platform after a deletion. */
export const OPERATORS_WEBHOOK = '/api/webhooks/100000000000000900/operators'
const KEPT = 100

type Posted = Message & { at: string }

/** An incoming webhook of the chat platform for the operators' notices, and its room. */
export function incomingWebhookRoutes(app: FastifyInstance, now: () => number): void {
  const posted: Posted[] = []
  let fault: z.infer<typeof FaultBody> = { kind: 'none', next: 0 }

  app.post<{ Params: { id: string; token: string } }>('/api/webhooks/:id/:token', async (request, reply) => {
    const { id, token } = request.params
    if (fault.next > 0 && fault.kind !== 'none') {
      fault.next--
      switch (fault.kind) {
        case 'busy':
          return reply
            .code(429)
            .header('retry-after', '2')
            .send({ message: 'You are being rate limited.', retry_after: 2, global: false })
        case 'error500':
          return reply.code(500).send({ message: '500: Internal Server Error', code: 0 })
        case 'html':
          return reply.code(200).type('text/html').send('<!doctype html><title>Maintenance</title>')
        case 'gone':
          return reply.code(404).send({ message: 'Unknown Webhook', code: 10_015 })
        case 'half':
          reply.hijack()
          reply.raw.writeHead(200, { 'content-type': 'application/json', 'content-length': '200' })
          reply.raw.write('{"id":"1"')
          setTimeout(() => reply.raw.destroy(), 20)
          return reply
        case 'silence':
          return reply.hijack()
      }
    }
    if (`/api/webhooks/${id}/${token}` !== OPERATORS_WEBHOOK)
      return reply.code(404).send({ message: 'Unknown Webhook', code: 10_015 })
    const message = Message.safeParse(request.body)
    if (!message.success) return reply.code(400).send({ message: 'Cannot send an empty message', code: 50_006 })
    posted.unshift({ ...message.data, at: new Date(now()).toISOString() })
    posted.length = Math.min(posted.length, KEPT)
    return reply.code(204).send()
  })

  app.post('/sandbox/discord/webhook_faults', async request => {
    fault = FaultBody.parse(request.body)
    return fault
  })
  app.get('/chat/operators.json', async () => posted)
  app.get('/chat/operators', async (_request, reply) => sendPage(reply, roomPage(posted)))
}

const roomPage = (posted: readonly Posted[]): string =>
  page(
    'Operators’ room',
    'A stand-in chat platform. No real account is used.',
    html`<h1>Operators’ room</h1>
      ${posted.length === 0 ? html`<p class="quiet">Nothing has been posted here.</p>` : posted.map(messageCard)}`
  )

const messageCard = ({ at, content, embeds }: Posted): Html =>
  html`<section class="card">
    <p class="quiet small">${at}</p>
    <p><strong>${content}</strong></p>
    ${embeds.map(
      ({ title, description, url }) =>
        html`<p>${url && title ? html`<a href="${url}">${title}</a>` : (title ?? '')}</p>
          <pre>${description ?? ''}</pre>`
    )}
  </section>`
