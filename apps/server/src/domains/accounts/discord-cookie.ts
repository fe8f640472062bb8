import type { FastifyReply, FastifyRequest } from 'fastify'
import { HOUR } from '../../infra/clock.ts'
import type { Config } from '../../infra/config.ts'

const COOKIE = 'netlet_oauth'

/** The token of the browser that started an OAuth flow with the chat platform. */
export const oauthTokenOf = (request: FastifyRequest): string | undefined => request.cookies[COOKIE]

export function setOauthCookie(reply: FastifyReply, config: Pick<Config, 'secureCookies'>, token: string): void {
  reply.setCookie(COOKIE, token, {
    path: '/api',
    httpOnly: true,
    // Lax, so that the browser sends it when the platform redirects back.
    sameSite: 'lax',
    secure: config.secureCookies,
    maxAge: (2 * HOUR) / 1000
  })
}
