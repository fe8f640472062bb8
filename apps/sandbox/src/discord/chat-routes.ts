import type { FastifyInstance } from 'fastify'
import { setTimeout as sleep } from 'node:timers/promises'
import { formOf, html, type Html, nothing, page, sendPage } from '../kit/http.ts'
import { Name } from './control-routes.ts'
import {
  BOT_USER,
  CHANNELS,
  demoChannel,
  demoChatUsers,
  GUILD,
  messagePayload,
  namedUser,
  type RoomMessage,
  type Rooms
} from './rooms.ts'
import type { Gateway } from './gateway.ts'
import type { Answer, Interactions } from './interactions.ts'

/** How long the page waits for the bot's reply to a message. Most messages get none. */
const REPLY_MS = 800
const ANSWER_MS = 5000

type Options = { gateway: Gateway; rooms: Rooms; interactions: Interactions; shopUrl: string }

/** The channels in a browser: write as anyone, use the bot's commands, and see replies that only their user sees. */
export function chatRoutes(app: FastifyInstance, { gateway, rooms, interactions, shopUrl }: Options): void {
  const show = (view: { as: string; channel: string; own?: Html }) =>
    chatPage({
      own: nothing,
      ...view,
      shopUrl,
      connected: gateway.connected(),
      commands: interactions.commands().map(one => one.name),
      messages: rooms.read(view.channel, { limit: 30 })
    })
  const channelOf = (id: string | null) => CHANNELS.find(channel => channel.id === id)?.id ?? demoChannel

  app.get('/chat', async (request, reply) => {
    const query = new URL(request.url, 'http://sandbox').searchParams
    const name = Name.safeParse(query.get('as') ?? 'marlow')
    return sendPage(reply, show({ as: name.success ? name.data : 'marlow', channel: channelOf(query.get('channel')) }))
  })

  app.post('/chat', async (request, reply) => {
    const form = formOf(request.body)
    const channel = channelOf(form.get('channel'))
    const name = Name.safeParse(form.get('name') ?? '')
    if (!name.success) {
      const own = html`<p class="bad">That is no user name.</p>`
      return sendPage(reply, show({ as: '', channel, own }), 400)
    }
    const command = form.get('command')
    if (command) {
      const asking = { name: command, channelId: channel, locale: 'en-US', withinMs: ANSWER_MS }
      const answer = await interactions.ask(namedUser(name.data), asking)
      return sendPage(reply, show({ as: name.data, channel, own: answerBox(command, answer) }))
    }
    const content = (form.get('message') ?? '').trim().slice(0, 2000) || 'Hello, room'
    const written = rooms.write({ channelId: channel, author: namedUser(name.data), content })
    gateway.publish('MESSAGE_CREATE', { ...messagePayload(written), guild_id: GUILD.id })
    const isReply = (message: RoomMessage) => message.replyTo === written.id
    for (let waited = 0; gateway.connected() && waited < REPLY_MS; waited += 50) {
      if (rooms.read(channel, { after: written.id, limit: 10 }).some(isReply)) break
      await sleep(50)
    }
    return reply.redirect(`/chat?${new URLSearchParams({ as: name.data, channel }).toString()}`, 303)
  })
}

function answerBox(command: string, answer: Answer | null): Html {
  if (!answer) return html`<p class="bad" role="status">The bot did not answer /${command} in time.</p>`
  const link = answer.link ? html`<p><a href="${answer.link.url}">${answer.link.label}</a></p>` : nothing
  return html`<div class="note" role="status">
    <p class="quiet small">/${command} · ${answer.ephemeral ? 'only you can see this' : 'everyone sees this'}</p>
    <pre>${answer.content}</pre>
    ${link}
  </div>`
}

type View = {
  as: string
  channel: string
  own: Html
  connected: boolean
  commands: string[]
  messages: RoomMessage[]
  shopUrl: string
}

const chatPage = ({ as, channel, own, connected, commands, messages, shopUrl }: View): string =>
  page(
    'Chat room',
    'A stand-in chat platform. No real account is used.',
    html`<h1>${GUILD.name}</h1>
      <p>
        ${CHANNELS.map(({ id, name }) =>
          id === channel
            ? html`<strong>#${name}</strong> `
            : html`<a href="/chat?${new URLSearchParams({ as, channel: id }).toString()}">#${name}</a> `
        )}
      </p>
      <div class="two">
        <section class="card" aria-label="Messages">
          ${
            messages.length === 0
              ? html`<p class="quiet">No messages yet.</p>`
              : html`<table>
                  ${messages.map(
                    message =>
                      html`<tr>
                        <td>
                          <strong>${message.author.global_name ?? message.author.username}</strong>
                          ${message.author.id === BOT_USER.id ? html`<span class="quiet small">bot</span>` : nothing}
                          <pre>${message.content}</pre>
                        </td>
                        <td class="quiet small">${message.at.slice(11, 16)}</td>
                      </tr>`
                  )}
                </table>`
          }
          ${own}
        </section>
        <section class="card" aria-label="Write">
          <p class="${connected ? 'quiet small' : 'bad small'}">
            ${connected ? 'The shop’s bot is connected.' : 'No bot is connected: the shop starts one with the token of its Web Settings.'}
          </p>
          <form method="post" action="/chat">
            <input type="hidden" name="channel" value="${channel}" />
            <label for="name">Write as</label>
            <input
              id="name"
              name="name"
              type="text"
              required
              minlength="2"
              maxlength="32"
              pattern="[A-Za-z0-9_.]{2,32}"
              value="${as}"
              autocomplete="off"
            />
            <label for="message" class="next">Message</label>
            <input id="message" name="message" type="text" maxlength="2000" value="Hello, room" />
            <button type="submit">Send</button>
            ${commands.map(name => html`<button class="plain" name="command" value="${name}">/${name}</button>`)}
          </form>
          <p class="quiet small">
            Connect a chat account in the <a href="${shopUrl}/dashboard/index/setting">shop’s settings</a>, then write
            here as the same user: each message in the channels of the Web Settings earns coins, which /points and the
            shop’s rewards show. Known users: ${demoChatUsers.map(one => one.username).join(', ')}.
          </p>
        </section>
      </div>`
  )
