import type { AgentConfig } from '../config.ts'
import { AccessLog } from '../log/access-log.ts'
import { readOrCreateToken } from './folder.ts'
import { OwnerFile } from './owner.ts'
import { TrafficTotals } from './traffic.ts'

/** The files of the state folder, except the journal. */
export type StateFiles = { token: string; accessLog: AccessLog; totals: TrafficTotals; owner: OwnerFile }

/** Opens these files. The caller must hold the folder's lock. */
export async function openFiles(
  path: string,
  config: Pick<AgentConfig, 'token' | 'log'>,
  now: () => number
): Promise<{ ok: true; files: StateFiles } | { ok: false; message: string }> {
  const owned = await OwnerFile.open(path)
  if (!owned.ok) return owned
  const token = config.token ?? (await readOrCreateToken(path).catch((error: Error) => error))
  if (token instanceof Error) return { ok: false, message: `The token cannot be used: ${token.message}` }
  const totals = await TrafficTotals.open(path, now)
  const accessLog = await AccessLog.open({ folder: path, flushMs: 500, ...config.log })
  return { ok: true, files: { token, accessLog, totals, owner: owned.file } }
}
