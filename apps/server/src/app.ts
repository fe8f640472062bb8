import type { SettingTestResult } from '@netlet/contract'
import type { FastifyInstance } from 'fastify'
import { documentationRoutes } from './api/routes.ts'
import { bulkActions } from './bulk-actions.ts'
import { accountRoutes, createAuthenticator, testChat } from './domains/accounts/index.ts'
import { users } from './domains/accounts/tables.ts'
import { auditRoutes } from './domains/audit/index.ts'
import { bulkRoutes } from './domains/bulk/index.ts'
import { catalogRoutes, rulePrices, variantsSellingFrom } from './domains/catalog/index.ts'
import { certificateRoutes } from './domains/certificates/index.ts'
import { chatBotRoutes } from './domains/chat/index.ts'
import {
  commerceRoutes,
  keepFormerSecret,
  requestWebhooks,
  testPlatform,
  testWebhookSecret
} from './domains/commerce/index.ts'
import { convergenceRoutes } from './domains/convergence/index.ts'
import { deliveryRoutes, proxyChecksOf } from './domains/delivery/index.ts'
import { homeRoutes, readDeliveries } from './domains/home/index.ts'
import { hasOpenMoney, inboxRoutes } from './domains/inbox/index.ts'
import { inventoryRoutes } from './domains/inventory/index.ts'
import { mailRoutes, sendTestMail, unsubscribeRoutes } from './domains/mail/index.ts'
import { noticeRoutes } from './domains/notices/index.ts'
import { orderRoutes } from './domains/orders/index.ts'
import { deliveryRefusal, ordersPaidBy, paymentRoutes } from './domains/payments/index.ts'
import { proofRoutes } from './domains/proofs/index.ts'
import { provisioningRoutes } from './domains/provisioning/index.ts'
import { retentionRoutes } from './domains/retention/index.ts'
import { rewardsRoutes } from './domains/rewards/index.ts'
import { enqueueDenyLists, serverRoutes } from './domains/servers/index.ts'
import { type SettingTests, settingsRoutes } from './domains/settings/index.ts'
import { statementRoutes } from './domains/statements/index.ts'
import { figureRoutes, statusRoutes, statusUnsubscribeRoutes } from './domains/status/index.ts'
import { supportRoutes } from './domains/support/index.ts'
import { trafficRoutes } from './domains/traffic/index.ts'
import { webhookRoutes } from './domains/webhooks/index.ts'
import { healthPorts } from './health.ts'
import type { AppContext } from './infra/context.ts'
import { eq } from './infra/db/drizzle.ts'
import { logRequests } from './infra/http/access-log.ts'
import { createApp } from './infra/http/app.ts'
import { unnamedProxyWarning } from './infra/http/client-address.ts'
import { eventStreamRoutes } from './infra/http/event-stream.ts'
import { healthRoutes } from './infra/http/health.ts'
import { mounter } from './infra/http/mount.ts'
import { taskMonitorRoutes } from './infra/http/task-monitor.ts'
import { serveWeb } from './infra/http/web.ts'
import { createLog } from './infra/log.ts'
import { noticePorts, ownsAddresses } from './notice-ports.ts'
import { auditNames, namingOrders } from './order-names.ts'
import { pageAbout, searchEngineRoutes, wellKnownRoutes } from './pages/index.ts'
import { accountPorts } from './ports.ts'
import { retention } from './retention.ts'
import { shopMetrics } from './shop-metrics.ts'
import { allJobs } from './workers.ts'

/** The whole HTTP side: every call of the contract, health and metrics, and the web app. */
export async function createHttpApp(ctx: AppContext): Promise<FastifyInstance> {
  const app = await createApp({ log: ctx.log, trustProxy: ctx.config.trustProxy })
  const warning = unnamedProxyWarning(ctx.config)
  if (warning) ctx.log.warn(warning)
  // Not among the lines that the console keeps.
  if (ctx.config.accessLog) logRequests(app, createLog('netlet', ctx.config.logLevel))
  healthRoutes(app, ctx, shopMetrics(ctx))
  const authenticator = createAuthenticator(ctx)
  const mount = mounter(app, authenticator)
  eventStreamRoutes(mount, ctx, { app, authenticator })
  taskMonitorRoutes(app, ctx, authenticator)
  accountRoutes(mount, ctx, accountPorts(ctx))
  catalogRoutes(mount, ctx, { app })
  commerceRoutes(mount, ctx)
  orderRoutes(mount, ctx, { ordersPaidBy, hasOpenMoney })
  const naming = namingOrders(mount, ctx.db)
  deliveryRoutes(naming, ctx, { deliveryRefusal })
  paymentRoutes(mount, ctx)
  inboxRoutes(mount, ctx)
  statementRoutes(mount, ctx)
  inventoryRoutes(naming, ctx, {
    onRulesChanged: enqueueDenyLists,
    prices: rulePrices,
    orderNumbers: auditNames.orderNumbers
  })
  serverRoutes(naming, ctx, { variantsSellingFrom })
  proofRoutes(naming, ctx)
  certificateRoutes(naming, ctx)
  convergenceRoutes(naming, ctx)
  trafficRoutes(naming, ctx)
  provisioningRoutes(naming, ctx)
  rewardsRoutes(mount, ctx)
  statusRoutes(mount, ctx, { app, proxyChecks: proxyChecksOf(ctx.config) })
  figureRoutes(mount, ctx, readDeliveries)
  supportRoutes(mount, ctx)
  settingsRoutes(mount, ctx, {
    async onPlatformChange(unit, change) {
      requestWebhooks(unit)
      await keepFormerSecret(unit, ctx.secrets, change)
    },
    health: healthPorts(ctx),
    tests: settingTests(ctx),
    jobs: allJobs
  })
  chatBotRoutes(mount, ctx)
  mailRoutes(mount, ctx)
  webhookRoutes(mount, ctx, { ownsAddresses })
  noticeRoutes(mount, ctx, noticePorts)
  await app.register(async scope => {
    // Mail programs post a form of either type (RFC 8058). Its one field adds nothing.
    const forms = ['multipart/form-data', 'application/x-www-form-urlencoded']
    scope.addContentTypeParser(forms, { parseAs: 'buffer' }, (_request, _body, next) => next(null))
    unsubscribeRoutes(mounter(scope, authenticator), ctx)
    statusUnsubscribeRoutes(mounter(scope, authenticator), ctx)
  })
  auditRoutes(mount, ctx, auditNames)
  homeRoutes(mount, ctx)
  retentionRoutes(mount, ctx, retention)
  bulkRoutes(mount, ctx, bulkActions)
  documentationRoutes(mount, ctx)
  searchEngineRoutes(app, ctx)
  wellKnownRoutes(app, ctx)
  await serveWeb(app, ctx.config, { about: pageAbout(ctx) })
  return app
}

/** How Web Settings test saved settings, each by the domain that uses them. */
const settingTests = (ctx: AppContext): SettingTests => ({
  async mail(by): Promise<SettingTestResult> {
    const [user] = await ctx.db
      .select({ to: users.email, language: users.language })
      .from(users)
      .where(eq(users.id, by.id))
    if (!user) return { ok: false, outcome: 'failed', params: {}, detail: null }
    const sent = await sendTestMail(ctx, user)
    if (sent.ok) return { ok: true, outcome: 'mail_sent', params: { to: user.to }, detail: null }
    const outcome = sent.reason === 'not_configured' ? 'not_configured' : 'failed'
    return { ok: false, outcome, params: {}, detail: sent.message }
  },
  platform: () => testPlatform(ctx),
  chat: () => testChat(ctx),
  webhook_secret: () => testWebhookSecret(ctx)
})
