import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext, type SecureContext } from 'node:tls'
import { tempFolder } from './test-agent.ts'

/** A certificate of its own, with its key, as PEM. */
export async function newCertificate(): Promise<{ cert: Buffer; key: Buffer }> {
  const folder = await tempFolder()
  const [cert, key] = [join(folder, 'a.pem'), join(folder, 'a.key')]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  const made = ['req', '-x509', ...curve, '-nodes', '-days', '2', '-subj', '/CN=proxy.test']
  execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  return { cert: readFileSync(cert), key: readFileSync(key) }
}

/** One for a plane that speaks TLS. */
export const newSecureContext = async (): Promise<SecureContext> => createSecureContext(await newCertificate())
