import { secondFactors, secondFactorTickets } from './domains/accounts/second-factor/tables.ts'
import { formerWebhookSecrets, platformTokens } from './domains/commerce/tables.ts'
import { noticeChannels } from './domains/notices/tables.ts'
import { resealedTls } from './domains/servers/index.ts'
import { servers } from './domains/servers/tables.ts'
import { sealedSettings } from './domains/settings/index.ts'
import { webhookEndpoints } from './domains/webhooks/tables.ts'
import { type SealedTable, whole } from './infra/reseal.ts'

/** All that is sealed in the database, except mails that wait, which are gone within a day. */
export const sealedTables: SealedTable[] = [
  sealedSettings,
  { table: formerWebhookSecrets, key: 'id', columns: { secret: whole } },
  { table: platformTokens, key: 'credentials', columns: { token: whole } },
  {
    table: servers,
    key: 'id',
    columns: { sshPassword: whole, agentToken: whole, agentSettings: resealedTls }
  },
  { table: webhookEndpoints, key: 'id', columns: { secret: whole, formerSecret: whole } },
  { table: noticeChannels, key: 'id', columns: { target: whole, secret: whole } },
  { table: secondFactors, key: 'id', columns: { secret: whole } },
  { table: secondFactorTickets, key: 'tokenHash', columns: { secret: whole } }
]
