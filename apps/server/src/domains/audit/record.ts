import type { Actor } from '../../infra/actor.ts'
import { namesOf, withoutSecrets } from '../../infra/audit-log.ts'
import type { Executor } from '../../infra/db/client.ts'
import { storableJson } from '../../infra/db/storable-json.ts'
import { auditLog } from '../../infra/tables.ts'

type OldEntry = { action: string; targetType: string; targetId: string | number; before?: unknown; after?: unknown }

/** Bridge to the audit log for writes that are not commands yet. Goes with the last caller. */
export async function record(tx: Executor, by: Actor | null, entry: OldEntry): Promise<void> {
  await tx.insert(auditLog).values({
    ...namesOf(by ?? { kind: 'system' }),
    action: entry.action,
    targetType: entry.targetType,
    targetId: String(entry.targetId),
    before: storableJson(withoutSecrets(entry.before)),
    after: storableJson(withoutSecrets(entry.after))
  })
}
