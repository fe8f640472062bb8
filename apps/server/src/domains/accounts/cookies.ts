import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../infra/config.ts'

type Secure = Pick<Config, 'secureCookies'>

/** `path` applies to plain http. */
export type Cookie = { name: string; path: '/' | '/api' }

/** Browsers take a cookie of this name only from this host over https, so another host of the site cannot set it. */
const HOST = '__Host-'

const nameOf = ({ secureCookies }: Secure, { name }: Cookie): string => (secureCookies ? HOST + name : name)

const optionsOf = ({ secureCookies }: Secure, { path }: Cookie) =>
  ({
    path: secureCookies ? '/' : path,
    httpOnly: true,
    // Lax, because a login by the chat platform returns from another site.
    sameSite: 'lax',
    secure: secureCookies
  }) as const

export const readCookie = (request: FastifyRequest, config: Secure, cookie: Cookie): string | undefined =>
  request.cookies[nameOf(config, cookie)]

/** The cookie without the prefix, as a version before it set it over https. */
export const readFormer = (request: FastifyRequest, { secureCookies }: Secure, { name }: Cookie): string | undefined =>
  secureCookies ? request.cookies[name] : undefined

/** @param life in milliseconds */
export function writeCookie(reply: FastifyReply, config: Secure, cookie: Cookie, value: string, life: number): void {
  clearFormer(reply, config, cookie)
  reply.setCookie(nameOf(config, cookie), value, { ...optionsOf(config, cookie), maxAge: life / 1000 })
}

export function clearCookie(reply: FastifyReply, config: Secure, cookie: Cookie): void {
  clearFormer(reply, config, cookie)
  reply.clearCookie(nameOf(config, cookie), optionsOf(config, cookie))
}

function clearFormer(reply: FastifyReply, config: Secure, cookie: Cookie): void {
  if (readFormer(reply.request, config, cookie) === undefined) return
  reply.clearCookie(cookie.name, { ...optionsOf(config, cookie), path: cookie.path })
}
