import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The key that signs the reports of the stand-in's mail service, in a file that only its owner can read. It survives
 * restarts, because the shop's settings contain its public key.
 */
export async function openReportKey(dir: string): Promise<KeyObject> {
  const file = join(dir, 'mail-report-key.pem')
  try {
    return createPrivateKey(await readFile(file))
  } catch {
    // Missing, or someone edited it.
  }
  await mkdir(dir, { recursive: true })
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  await writeFile(`${file}.new`, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  // `mode` applies only if the write creates the file.
  await chmod(`${file}.new`, 0o600)
  await rename(`${file}.new`, file)
  return privateKey
}
