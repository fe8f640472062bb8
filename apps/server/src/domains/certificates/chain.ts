import { type KeyObject, type X509Certificate, createPrivateKey } from 'node:crypto'
import type { CertificateSeen } from '@netlet/contract'
import { certificateNames } from '@netlet/contract/proxy-tls'
import { iso } from '../../infra/clock.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { type Result, ok } from '../../infra/result.ts'
import { certificatesIn, isCertificates } from '../servers/index.ts'

/** A summary of a chain, the server's certificate first. */
export function seenOf(chain: readonly X509Certificate[]): CertificateSeen | null {
  const [first] = chain
  if (!first) return null
  const ends = chain.map(({ validToDate }) => validToDate.getTime())
  return {
    names: certificateNames(first.subjectAltName),
    issuer: first.issuer.replaceAll('\n', ', '),
    begins_at: iso(first.validFromDate),
    ends_at: iso(new Date(Math.min(...ends))),
    fingerprint: first.fingerprint256
  }
}

/** The same for a stored chain. */
export const describeChain = (chain: string): CertificateSeen | null => seenOf(certificatesIn(chain))

const dayOf = (at: Date): string => iso(at).slice(0, 10)

/**
 * Checks what an operator pasted: a chain in its order that has not expired and names a host, and its key.
 * @param chain PEM of certificates and nothing else
 */
export function checkPair(chain: string, key: string, now: Date): Result<null> {
  const certificates = isCertificates(chain) ? certificatesIn(chain) : []
  const [first] = certificates
  if (!first) return fieldRefusal('certificate', 'tls_chain_unreadable')
  for (const [at, certificate] of certificates.entries()) {
    const next = certificates[at + 1]
    if (next && !certificate.checkIssued(next))
      return fieldRefusal('certificate', 'tls_chain_order', { number: at + 1 })
    const { validFromDate: begins, validToDate: ends } = certificate
    if (begins > now || ends <= now)
      return fieldRefusal('certificate', 'tls_not_valid', { number: at + 1, begins: dayOf(begins), ends: dayOf(ends) })
  }
  if (certificateNames(first.subjectAltName).length === 0) return fieldRefusal('certificate', 'tls_no_names')
  const read = readKey(key)
  if (!read) return fieldRefusal('key', 'tls_key_unreadable')
  return first.checkPrivateKey(read) ? ok(null) : fieldRefusal('key', 'tls_key_mismatch')
}

function readKey(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem)
  } catch {
    return null
  }
}
