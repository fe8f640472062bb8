import { accountRetention } from './domains/accounts/index.ts'
import { auditRetention } from './domains/audit/index.ts'
import { bulkRetention } from './domains/bulk/index.ts'
import { syncRetention } from './domains/catalog/index.ts'
import { chatRetention } from './domains/chat/index.ts'
import { commerceRetention } from './domains/commerce/index.ts'
import { deliveryRetention } from './domains/delivery/index.ts'
import { alarmRetention } from './domains/convergence/index.ts'
import { proofRetention } from './domains/proofs/index.ts'
import { mailRetention } from './domains/mail/index.ts'
import { noticeRetention } from './domains/notices/index.ts'
import { orderRetention } from './domains/orders/index.ts'
import { isUnresolved, unpaidRetention } from './domains/inbox/index.ts'
import { jobArchive } from './domains/retention/index.ts'
import { upgradeRetention } from './domains/provisioning/index.ts'
import { rewardsRetention } from './domains/rewards/index.ts'
import { settingsRetention } from './domains/settings/index.ts'
import { webhookRetention } from './domains/webhooks/index.ts'
import { statusRetention } from './domains/status/index.ts'
import { trafficRetention } from './domains/traffic/index.ts'
import type { RetentionEntry } from './infra/retention.ts'

/** All rows that grow, each kind with its time and reason, declared by its domain. */
export const retention: RetentionEntry[] = [
  ...accountRetention,
  ...rewardsRetention,
  ...chatRetention,
  ...commerceRetention(isUnresolved),
  ...orderRetention,
  ...deliveryRetention,
  ...alarmRetention,
  ...proofRetention,
  ...trafficRetention,
  upgradeRetention,
  unpaidRetention,
  ...bulkRetention,
  ...syncRetention,
  ...auditRetention,
  ...mailRetention,
  ...webhookRetention,
  ...noticeRetention,
  ...settingsRetention,
  ...statusRetention,
  jobArchive
]
