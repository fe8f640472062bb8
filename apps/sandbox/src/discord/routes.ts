import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { formOf, html, page, sendPage } from '../kit/http.ts'
import { BOT_USER, createGrants, demoChatUsers, namedUser } from './rooms.ts'

const NOTICE = 'A stand-in chat platform. No real account is used.'
const loopback = new Set(['127.0.0.1', 'localhost', '[::1]'])

type Options = { clientId: string; clientSecret: string; botToken: () => string; shopUrl: string; now: () => number }

/** The chat platform's OAuth2: the consent page, the token route and the current user. */
export function discordRoutes(app: FastifyInstance, { clientId, clientSecret, botToken, shopUrl, now }: Options): void {
  const grants = createGrants(now)

  /** What is wrong with an authorize query, or null. */
  function objection(query: URLSearchParams): string | null {
    if (query.get('client_id') !== clientId) return 'Unknown application: the client id is not the one registered here.'
    if (query.get('response_type') !== 'code') return 'The response type has to be code.'
    if (!(query.get('scope') ?? '').split(' ').includes('identify')) return 'The scope has to contain identify.'
    if (query.has('code_challenge') && query.get('code_challenge_method') !== 'S256')
      return 'Unsupported "code_challenge_method".'
    const redirect = URL.parse(query.get('redirect_uri') ?? '')
    // The real platform has a list of addresses. Here it contains the shop and this machine.
    const listed = redirect && (redirect.origin === URL.parse(shopUrl)?.origin || loopback.has(redirect.hostname))
    return listed ? null : 'The redirect address is not registered for this application.'
  }

  const problem = (reply: FastifyReply, text: string) =>
    sendPage(
      reply,
      page(
        'Invalid request',
        NOTICE,
        html`<h1>Invalid request</h1>
          <div class="card"><p>${text}</p></div>`
      ),
      400
    )

  app.get('/oauth2/authorize', async (request, reply) => {
    const query = new URL(request.url, 'http://sandbox').searchParams
    const wrong = objection(query)
    return wrong ? problem(reply, wrong) : sendPage(reply, consentPage(query))
  })

  app.post('/oauth2/authorize', async (request, reply) => {
    const query = new URL(request.url, 'http://sandbox').searchParams
    const wrong = objection(query)
    if (wrong) return problem(reply, wrong)
    const form = formOf(request.body)
    const back = new URL(query.get('redirect_uri') ?? '')
    const state = query.get('state')
    if (state !== null) back.searchParams.set('state', state)
    if (form.has('cancel')) {
      back.searchParams.set('error', 'access_denied')
      return reply.redirect(back.href, 303)
    }
    const name = (form.get('user') || form.get('name') || '').trim().toLowerCase()
    if (!/^[a-z0-9_.]{2,32}$/.test(name))
      return problem(reply, 'A name has 2 to 32 letters, digits, dots or underscores.')
    const code = grants.issueCode(namedUser(name), query.get('redirect_uri') ?? '', query.get('code_challenge'))
    back.searchParams.set('code', code)
    return reply.redirect(back.href, 303)
  })

  app.post('/api/oauth2/token', async (request, reply) => {
    const form = formOf(request.body)
    if (form.get('client_id') !== clientId || form.get('client_secret') !== clientSecret)
      return reply.code(401).send({ error: 'invalid_client' })
    if (form.get('grant_type') === 'client_credentials')
      return { access_token: randomUUID(), token_type: 'Bearer', expires_in: 604800, scope: 'identify' }
    if (form.get('grant_type') !== 'authorization_code')
      return reply.code(400).send({ error: 'unsupported_grant_type' })
    const verifier = form.get('code_verifier')
    if (verifier !== null && !/^[\w.~-]{43,128}$/.test(verifier))
      return reply.code(400).send({ error: 'invalid_request', error_description: 'Invalid "code_verifier"' })
    const token = grants.redeem(form.get('code') ?? '', form.get('redirect_uri') ?? '', verifier)
    if (!token) return reply.code(400).send({ error: 'invalid_grant', error_description: 'Invalid "code" in request.' })
    return { access_token: token, token_type: 'Bearer', expires_in: 604800, refresh_token: '', scope: 'identify' }
  })

  app.get('/api/v10/users/@me', async (request, reply) => {
    if (request.headers.authorization === `Bot ${botToken()}`) return BOT_USER
    const user = grants.userOf((request.headers.authorization ?? '').replace(/^Bearer /, ''))
    if (!user) return reply.code(401).send({ message: '401: Unauthorized', code: 0 })
    return { ...user, discriminator: '0', avatar: null }
  })
}

function consentPage(query: URLSearchParams): string {
  const action = `/oauth2/authorize?${query.toString()}`
  return page(
    'Sign in',
    NOTICE,
    html`<h1>Who are you today?</h1>
      <div class="two">
        <section class="card" aria-labelledby="demo">
          <h2 id="demo">Choose a demo user</h2>
          <form method="post" action="${action}">
            ${demoChatUsers.map(
              user =>
                html`<button class="plain" name="user" value="${user.username}">
                  ${user.global_name ?? user.username} <span class="quiet small">${user.username}</span>
                </button>`
            )}
          </form>
        </section>
        <section class="card" aria-labelledby="own">
          <h2 id="own">Or be someone else</h2>
          <form method="post" action="${action}">
            <label for="name">User name</label>
            <input
              id="name"
              name="name"
              type="text"
              required
              minlength="2"
              maxlength="32"
              pattern="[A-Za-z0-9_.]{2,32}"
              autocomplete="off"
            />
            <button type="submit">Sign in</button>
          </form>
          <form method="post" action="${action}"><button class="plain" name="cancel" value="1">Cancel</button></form>
        </section>
      </div>`
  )
}
