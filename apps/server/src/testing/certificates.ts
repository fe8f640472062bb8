import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Pair = { certificate: string; key: string }

/** Makes certificates in its own folder. One authority signs those of `signed`. */
export function certificateMaker() {
  const folder = mkdtempSync(join(tmpdir(), 'netlet-tls-test-'))
  const at = (name: string) => join(folder, name)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' })
  const newKey = (name: string) => [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    at(name)
  ]
  const pairOf = (certificate: string, key: string): Pair => ({
    certificate: readFileSync(at(certificate), 'utf8').trim(),
    key: readFileSync(at(key), 'utf8').trim()
  })
  let count = 0

  /** @param names such as `DNS:a.test` or `IP:127.0.0.1`; empty: the certificate has no name */
  function selfSigned(names: string[], options: string[] = ['-days', '30']): Pair {
    const name = `own${(count += 1)}`
    const alt = names.length > 0 ? ['-addext', `subjectAltName=${names.join(',')}`] : []
    openssl(
      'req',
      '-x509',
      ...newKey(`${name}.key`),
      '-subj',
      `/CN=${name}`,
      ...alt,
      ...options,
      '-out',
      at(`${name}.pem`)
    )
    return pairOf(`${name}.pem`, `${name}.key`)
  }

  const authority = selfSigned(['DNS:authority.test'])
  /** A certificate followed by its authority, in the order of a TLS handshake. */
  function signed(names: string[]): Pair {
    const name = `signed${(count += 1)}`
    openssl(
      'req',
      ...newKey(`${name}.key`),
      '-subj',
      `/CN=${name}`,
      '-addext',
      `subjectAltName=${names.join(',')}`,
      '-out',
      at(`${name}.csr`)
    )
    const by = ['-CA', at('own1.pem'), '-CAkey', at('own1.key'), '-copy_extensions', 'copy', '-days', '30']
    openssl('x509', '-req', '-in', at(`${name}.csr`), ...by, '-out', at(`${name}.pem`))
    const { certificate, key } = pairOf(`${name}.pem`, `${name}.key`)
    return { certificate: `${certificate}\n${authority.certificate}`, key }
  }

  return { folder, at, selfSigned, signed, authority, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
