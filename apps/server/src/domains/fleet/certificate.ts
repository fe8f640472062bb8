import { X509Certificate } from 'node:crypto'
import type { Server } from '@netlet/contract'
import { DAY, iso } from '../../infra/clock.ts'

/** What is shown of a certificate in PEM; null where it cannot be read. */
export function certificateOf(pem: string): Server['certificate'] {
  try {
    const { fingerprint256, validToDate } = new X509Certificate(pem)
    return { fingerprint: fingerprint256, ends_at: iso(validToDate) }
  } catch {
    return null
  }
}

/** When the first of all certificates in a PEM ends, ISO 8601; null where none can be read. */
export function firstEndOf(pem: string): string | null {
  const ends = [...pem.matchAll(CERTIFICATE)].flatMap(([block]) => certificateOf(block)?.ends_at ?? [])
  return ends.toSorted()[0] ?? null
}

/** Whole days until then; negative once it has ended. */
export const daysLeft = (ends: string, now: Date): number => Math.floor((Date.parse(ends) - now.getTime()) / DAY)

const CERTIFICATE = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g

/** The certificates of a PEM. @throws Error where one cannot be read */
export const certificatesIn = (pem: string): X509Certificate[] =>
  [...pem.matchAll(CERTIFICATE)].map(([block]) => new X509Certificate(block))

/** Is it certificates in PEM, each of which can be read, and nothing else at all: no key, whatever is written around it? */
export function isCertificates(pem: string): boolean {
  const found = [...pem.matchAll(CERTIFICATE)]
  if (found.length === 0 || pem.replaceAll(CERTIFICATE, '').trim() !== '') return false
  return found.every(([block, body = '']) => {
    try {
      // What stands behind a certificate within its own lines is not read, but would be stored.
      return new X509Certificate(block).raw.equals(Buffer.from(body, 'base64'))
    } catch {
      return false
    }
  })
}
