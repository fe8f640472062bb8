import { X509Certificate } from 'node:crypto'
import type { Server } from '@netlet/contract'
import { DAY, iso } from '../../infra/clock.ts'

/** Fingerprint and end of a PEM certificate; null if it cannot be read. */
export function certificateOf(pem: string): Server['certificate'] {
  try {
    const { fingerprint256, validToDate } = new X509Certificate(pem)
    return { fingerprint: fingerprint256, ends_at: iso(validToDate) }
  } catch {
    return null
  }
}

/** When the first of the certificates in a PEM ends, ISO 8601; null if none can be read. */
export function firstEndOf(pem: string): string | null {
  const ends = [...pem.matchAll(CERTIFICATE)].flatMap(([block]) => certificateOf(block)?.ends_at ?? [])
  return ends.toSorted()[0] ?? null
}

/** Whole days until then; negative once it has ended. */
export const daysLeft = (ends: string, now: Date): number => Math.floor((Date.parse(ends) - now.getTime()) / DAY)

const CERTIFICATE = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g

/** The certificates in a PEM. @throws Error if one cannot be read */
export const certificatesIn = (pem: string): X509Certificate[] =>
  [...pem.matchAll(CERTIFICATE)].map(([block]) => new X509Certificate(block))

/** Whether a text is nothing but readable PEM certificates: no key, no other text. */
export function isCertificates(pem: string): boolean {
  const found = [...pem.matchAll(CERTIFICATE)]
  if (found.length === 0 || pem.replaceAll(CERTIFICATE, '').trim() !== '') return false
  return found.every(([block, body = '']) => {
    try {
      // The parser ignores what follows a certificate within its lines, but we would store it.
      return new X509Certificate(block).raw.equals(Buffer.from(body, 'base64'))
    } catch {
      return false
    }
  })
}
