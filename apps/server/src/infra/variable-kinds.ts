import { Resolver } from 'node:dns'
import { isIP } from 'node:net'
import { z } from 'zod'

const DATABASE_URL_UNREADABLE =
  'DATABASE_URL is not the address of one database. In a user or password write % as %25, @ as %40 and / as %2F.'

/** An address in the environment; empty counts as unset. After `%`, its user and password need hexadecimal digits. */
export const address = (name: string, example: string, schemes = ['https:', 'http:']) =>
  z
    .string()
    .transform(text => text || undefined)
    .refine(
      text => text === undefined || isAddress(text, schemes),
      `${name} is not an address, such as ${example}. In a user or password write % as %25, @ as %40 and / as %2F.`
    )
    .optional()

/** The driver also takes an address without a host, such as one whose `?host=` names a socket. */
const isDatabaseUrl = (text: string): boolean =>
  isAddress(text.replace(/\/\/(.*@)?\//, '//$1socket/'), ['postgres:', 'postgresql:'])

/** libpq takes `postgres://a,b/db` and finds the primary itself; the driver does not. */
const namesSeveral = (text: string): boolean => /^\w+:\/\/(?:[^/?]*@)?[^/?@]*,/.test(text)

function isAddress(text: string, schemes: readonly string[]): boolean {
  const url = URL.parse(text)
  if (!url?.hostname || !schemes.includes(url.protocol)) return false
  try {
    decodeURIComponent(url.username + url.password)
    return true
  } catch {
    return false
  }
}

export const database = (name: string, missing: string) =>
  z
    .string({ error: missing })
    .min(1, missing)
    .regex(/^postgres(ql)?:\/\//, `${name} is not a postgres:// address`)
    .refine(
      text => !namesSeveral(text),
      `${name} names several servers. Name one address that leads to the primary: of HAProxy or PgBouncer, or one that moves with it.`
    )
    .refine(isDatabaseUrl, DATABASE_URL_UNREADABLE.replace('DATABASE_URL', name))

export const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) <= 65_535

/** The parts of a comma-separated list, without empty ones. */
export const list = () =>
  z
    .string()
    .default('')
    .transform(text => text.split(',').flatMap(part => part.trim() || []))

export const flag = () =>
  z
    .string()
    .optional()
    .transform(value => value === '1')

const PROXY_NAMES = ['loopback', 'linklocal', 'uniquelocal']

/** Does Fastify take this as a proxy that it trusts? */
export function isProxy(text: string): boolean {
  const [host = '', bits, ...rest] = text.split('/')
  const most = isIP(host) === 4 ? 32 : isIP(host) === 6 ? 128 : 0
  if (most === 0 || rest.length > 0) return PROXY_NAMES.includes(text)
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= most)
}

export function areNameServers(addresses: string[]): boolean {
  try {
    new Resolver().setServers(addresses)
    return true
  } catch {
    return false
  }
}
