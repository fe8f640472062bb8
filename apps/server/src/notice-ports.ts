import { certificateFinder } from './domains/certificates/index.ts'
import { abuseFinder } from './domains/convergence/index.ts'
import { proofFinder } from './domains/proofs/index.ts'
import { serverFinders } from './domains/servers/index.ts'
import { findRefusedClient, readOperators } from './domains/accounts/index.ts'
import { catalogFinders } from './domains/catalog/index.ts'
import { findRefusedBot } from './domains/chat/index.ts'
import { commerceFinders, findRefusedTokens } from './domains/commerce/index.ts'
import { ownFinders, type NoticeFinder, type NoticePorts } from './domains/notices/index.ts'
import { orderFinders } from './domains/orders/index.ts'
import { paymentFinders } from './domains/inbox/index.ts'
import { upgradeFinder } from './domains/provisioning/index.ts'
import { supportFinders } from './domains/support/index.ts'
import { ownsAddresses } from './own-addresses.ts'

/** Refused tokens of all services. Each domain knows its own. */
const refusedTokens: NoticeFinder = {
  cause: 'token',
  every: 1,
  find: async ctx => [
    ...(await findRefusedTokens(ctx)),
    ...(await findRefusedBot(ctx)),
    ...(await findRefusedClient(ctx))
  ]
}

/** What notices need from higher domains: the operators, and a finder for each cause. */
export const noticePorts: NoticePorts = {
  finders: [
    ...serverFinders,
    certificateFinder,
    proofFinder,
    abuseFinder,
    upgradeFinder,
    ...orderFinders,
    ...paymentFinders,
    ...commerceFinders,
    refusedTokens,
    ...catalogFinders,
    ...supportFinders,
    ...ownFinders
  ],
  operators: readOperators,
  ownsAddresses
}
