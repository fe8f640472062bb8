import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { html, nothing, page, type Html } from '../kit/html.ts'
import { formOf, sendPage } from '../kit/http.ts'
import { demoChannel, type Bot, type BotReply } from './bot.ts'
import { demoChatUsers, namedUser } from './discord.ts'

const Name = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9_.]{2,32}$/, 'has 2 to 32 letters, digits, dots or underscores')
const Messages = z.object({
  user: Name,
  channel_id: z.string().min(1).default(demoChannel),
  count: z.number().int().min(1).max(200).default(1),
  event_id: z.string().min(1).optional(),
  at: z.string().optional(),
  wrong_signature: z.boolean().default(false)
})

/** A chat room of one's own: each message is reported to the shop by the stand-in's bot. */
export function chatRoutes(app: FastifyInstance, bot: Bot): void {
  app.get('/chat', async (_request, reply) => sendPage(reply, chatPage('marlow', nothing)))

  app.post('/chat', async (request, reply) => {
    const name = Name.safeParse(formOf(request.body).get('name') ?? '')
    if (!name.success) return sendPage(reply, chatPage('', html`<p class="bad">That is no user name.</p>`), 400)
    const answer = await bot({ user: namedUser(name.data), channelId: demoChannel })
    return sendPage(reply, chatPage(name.data, outcome(answer)))
  })

  app.post('/sandbox/discord/messages', async request => {
    const { user, channel_id, count, event_id, at, wrong_signature } = Messages.parse(request.body)
    const replies: BotReply[] = []
    for (let sent = 0; sent < count; sent++)
      replies.push(
        await bot({
          user: namedUser(user),
          channelId: channel_id,
          eventId: event_id,
          at,
          wrongSignature: wrong_signature
        })
      )
    return { replies }
  })
}

const Granted = z.object({ data: z.object({ granted: z.number() }) })

function outcome({ status, body }: BotReply): Html {
  const read = Granted.safeParse(body)
  if (status === 200 && read.success) {
    const { granted } = read.data.data
    return granted > 0
      ? html`<p class="note" role="status">The shop granted ${granted} points for this message.</p>`
      : html`<p class="note" role="status">
          The shop granted nothing: no customer has bound this chat account, or today’s most is reached.
        </p>`
  }
  return html`<p class="bad" role="status">
    ${status === null ? 'The shop did not answer.' : `The shop refused the report (HTTP ${status}).`}
  </p>`
}

const chatPage = (name: string, result: Html): string =>
  page(
    'Chat room',
    'A stand-in chat platform. No real account is used.',
    html`<h1>Chat room</h1>
      <div class="card">
        <p class="quiet small">
          Bind a chat account in the shop’s settings, then write here as the same user. Known users:
          ${demoChatUsers.map(one => one.username).join(', ')}.
        </p>
        ${result}
        <form method="post" action="/chat">
          <label for="name">Write as</label>
          <input
            id="name"
            name="name"
            type="text"
            required
            minlength="2"
            maxlength="32"
            pattern="[A-Za-z0-9_.]{2,32}"
            value="${name}"
            autocomplete="off"
          />
          <label for="message" class="next">Message</label>
          <input id="message" name="message" type="text" value="Hello, room" />
          <button type="submit">Send</button>
        </form>
      </div>`
  )
