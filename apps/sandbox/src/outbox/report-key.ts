import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * What the stand-in's mail service signs its reports with, kept over restarts in a file that only its owner reads: the
 * shop's settings hold the other half.
 */
export async function openReportKey(dir: string): Promise<KeyObject> {
  const file = join(dir, 'mail-report-key.pem')
  try {
    return createPrivateKey(await readFile(file))
  } catch {
    // There is none, or somebody edited it.
  }
  await mkdir(dir, { recursive: true })
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  await writeFile(`${file}.new`, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  // The mode counts only for a file that the write makes.
  await chmod(`${file}.new`, 0o600)
  await rename(`${file}.new`, file)
  return privateKey
}
