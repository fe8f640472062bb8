import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext, type SecureContext } from 'node:tls'
import { tempFolder } from './test-agent.ts'

/** A self-signed certificate: the paths of its files, and their PEM text. */
export type TestCertificate = { files: { cert: string; key: string }; cert: string; key: string }

export async function newCertificate(
  name = 'proxy.test',
  { days = 2, names = `DNS:${name}`, folder }: { days?: number; names?: string; folder?: string } = {}
): Promise<TestCertificate> {
  const at = folder ?? (await tempFolder())
  const files = { cert: join(at, `${name}.pem`), key: join(at, `${name}.key`) }
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', String(days)]
  const named = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${names}`]
  execFileSync('openssl', ['req', '-x509', ...kind, ...named, '-keyout', files.key, '-out', files.cert], {
    stdio: 'ignore'
  })
  return { files, cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') }
}

export async function newSecureContext(): Promise<SecureContext> {
  const { cert, key } = await newCertificate()
  return createSecureContext({ cert, key })
}
