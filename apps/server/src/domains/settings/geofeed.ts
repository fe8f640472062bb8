import { refuse, type Refusal } from '@netlet/contract'
import ipaddr from 'ipaddr.js'
import { iso31661, iso31662 } from 'iso-3166'
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AppContext } from '../../infra/context.ts'
import { readSettings, savedAt } from './read.ts'

/** Seconds. Readers of geofeeds come about once a day. */
const FRESH_FOR = 300

/**
 * Sends the saved geofeed with an entity tag, the time of its save, and 304 for unchanged copies. HEAD replies the same
 * without a body.
 */
export async function serveGeofeed(ctx: AppContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { geofeed } = await readSettings(ctx.db, ctx.secrets)
  const saved = await savedAt(ctx.db, 'geofeed')
  const text = geofeed.trim()
  const body = text === '' ? '' : `${text}\n`
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  reply.type('text/csv; charset=utf-8').header('cache-control', `public, max-age=${FRESH_FOR}`).header('etag', etag)
  if (saved) reply.header('last-modified', saved.toUTCString())
  if (isFresh(request, etag, saved)) return void reply.code(304).send()
  reply.send(body)
}

/** RFC 9110, 13.2.2: an entity tag takes precedence over the time. */
function isFresh({ headers }: FastifyRequest, etag: string, saved: Date | null): boolean {
  const tags = headers['if-none-match']
  if (tags !== undefined)
    return tags.trim() === '*' || tags.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag)
  const since = Date.parse(headers['if-modified-since'] ?? '')
  // The header has whole seconds.
  return saved !== null && !Number.isNaN(since) && Math.floor(saved.getTime() / 1000) * 1000 <= since
}

// Readers of geofeeds silently drop lines with other codes, such as UK for GB.
const countries: ReadonlySet<string> = new Set(iso31661.map(({ alpha2 }) => alpha2))
const regions: ReadonlySet<string> = new Set(iso31662.map(({ code }) => code))

/**
 * Checks a geofeed (RFC 8805). A line is `prefix,country,region,city,postal code`; all but the prefix may be empty; `#`
 * begins a comment.
 * @returns the refusal of the first wrong line; undefined if all are right
 */
export function checkGeofeed(text: string): Refusal | undefined {
  const seen = new Map<string, number>()
  for (const [at, raw] of linesOf(text).entries()) {
    const fields = withoutComment(raw)
    const refused = fields === '' ? undefined : checkLine(fields, at + 1, seen)
    if (refused) return refused
  }
  return undefined
}

const linesOf = (text: string): string[] => text.split(/\r\n|\r|\n/)
const withoutComment = (line: string): string => line.replace(/#.*$/, '').trim()

/** A line of a geofeed. `prefix` is canonical; `fields`: country, region, city, postal code, normalized to compare. */
export type GeofeedLine = { raw: string; prefix: string; fields: [string, string, string, string] }

/** The lines of a geofeed with a valid range, without comments. */
export const readGeofeed = (text: string): GeofeedLine[] =>
  linesOf(text).flatMap(raw => {
    const [given = '', country = '', region = '', city = '', postal = ''] = withoutComment(raw)
      .split(',')
      .map(part => part.trim())
    const prefix = readPrefix(given)
    return prefix ? [{ raw, prefix, fields: [country.toUpperCase(), region.toUpperCase(), city, postal] }] : []
  })

function checkLine(fields: string, line: number, seen: Map<string, number>): Refusal | undefined {
  const [prefix = '', country = '', region = '', ...others] = fields.split(',').map(part => part.trim())
  if (others.length > 2) return refuse('geofeed_fields', { params: { line } })
  const network = readPrefix(prefix)
  if (!network) return refuse('geofeed_prefix', { params: { line, prefix: prefix.slice(0, 60) } })
  const before = seen.get(network)
  if (before !== undefined) return refuse('geofeed_duplicate', { params: { line, prefix, before } })
  seen.set(network, line)
  if (country !== '' && !countries.has(country.toUpperCase()))
    return refuse('geofeed_country', { params: { line, country: country.slice(0, 20) } })
  if (region !== '' && !regions.has(region.toUpperCase()))
    return refuse('geofeed_region', { params: { line, region: region.slice(0, 20) } })
  if (region === '' || region.slice(0, 2).toUpperCase() === country.toUpperCase()) return undefined
  return refuse('geofeed_other_country', { params: { line, region, country: country || '–' } })
}

/** The canonical form of a prefix or an address; undefined if it is neither, or has bits set after its length. */
function readPrefix(text: string): string | undefined {
  if (!/^[0-9a-f.:]+(\/\d{1,3})?$/i.test(text)) return undefined
  if (!text.includes(':') && !/^\d+\.\d+\.\d+\.\d+(\/|$)/.test(text)) return undefined
  try {
    const [address, bits] = text.includes('/') ? ipaddr.parseCIDR(text) : withFullLength(ipaddr.parse(text))
    const network =
      address.kind() === 'ipv4'
        ? ipaddr.IPv4.networkAddressFromCIDR(`${address.toString()}/${bits}`)
        : ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${bits}`)
    return network.toString() === address.toString() ? `${address.toString()}/${bits}` : undefined
  } catch {
    return undefined
  }
}

function withFullLength(address: ipaddr.IPv4 | ipaddr.IPv6): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}
